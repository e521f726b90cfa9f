import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { loadRules } from "../../provider/index.ts";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { rule } from "../support/rules.ts";
import { sessionOf } from "../support/stack/hosts.ts";
import { serve } from "../support/stack/service.ts";
import { applied, exportOf } from "../support/stack/states.ts";
import { command } from "./command.ts";
import { driftFolder } from "./drift-command.ts";

const large = `# nobody pays more
name: large # the natural key
priority: 1
conditions:
  - { field: amount, operator: gt, value: 10 }
  - field: currency
    operator: is
    value: EUR
`;
export const files = {
  "rules/large.yaml": large,
  "rules/night.json": '{\n  "name": "night",\n  "priority": 2,\n  "limits": { "day": 1,\n    "hour": 2 }\n}\n',
  "rules/gone.yaml": "name: gone\npriority: 3\n",
  "rules/inList.yaml": "name: listed\n",
  "overlays/prod/night.yaml": "# prod is stricter\nlimits:\n  hour: 1\n",
  "overlays/prod/extra.yaml": "name: extra\npriority: 4\n",
};

/** A stack `prod` whose set `all` holds the rules of a folder and of an overlay, with its export. */
export async function declared(texts: Readonly<Record<string, string>> = files, contract?: ContractInput) {
  const served = await serve(contract);
  const place = driftFolder(served.environment);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(place.folder, name)), { recursive: true });
    writeFileSync(join(place.folder, name), text);
  };
  for (const [name, text] of Object.entries(texts)) write(name, text);
  write("Pulumi.yaml", "name: shop\nruntime: nodejs\n");
  const here = process.cwd();
  process.chdir(place.folder);
  onTestFinished(() => process.chdir(here));
  const state = await applied(sessionOf(served.environment), {
    all: { rules: loadRules("rules", { overlay: "overlays/prod" }) },
    one: { definition: rule(1) },
  });
  write("state.json", exportOf(state));
  const { service } = served;
  const edit = (name: string, changes: object): void => {
    const { ruleId = "", rule: live = {} } = service.rules().find((each) => each.rule.name === name) ?? {};
    service.put(ruleId, JSON.parse(JSON.stringify({ ...live, ...changes })));
  };
  const remove = (name: string): void =>
    void service.remove(service.rules().find((each) => each.rule.name === name)?.ruleId ?? "");
  return {
    ...place,
    write,
    service,
    edit,
    remove,
    read: (name: string): string => readFileSync(join(place.folder, name), "utf8"),
    pull: (...flags: string[]) => command("pull", "--state", "state.json", "--cwd", place.folder, ...flags),
    drift: (...flags: string[]) => place.drift("--state", "state.json", ...flags),
  };
}
