import { readFileSync } from "node:fs";

export type SubjectName =
  | "MerchantRuleSet"
  | "MerchantRuleSet at WireMock"
  | "MerchantRuleSet of texts"
  | "MerchantRule × N"
  | "do-nothing × N"
  | "do-nothing set of texts"
  | "dynamic.Resource × N"
  | "restapi_object × N";

/** The local service, or WireMock: a server of somebody else's. */
export type ServiceName = "local" | "wiremock";

/** Something that is measured: a program over the definitions in rules.json. */
export interface Subject {
  readonly name: SubjectName;
  readonly program: string;
  /** Files beside the program, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** The service that there is. */
  readonly service: ServiceName;
  /** Its rules are at the service; else it sends nothing. */
  readonly isAtService: boolean;
  /** The number of its requests is this package's doing. */
  readonly isOwn: boolean;
  /** Every tenth rule is updated as well, after all of them. */
  readonly updatesTenth: boolean;
}

// No stack outputs: they would count as bytes of the rules' state.
const definitions = `import { readFileSync } from "node:fs";
const rules = JSON.parse(readFileSync(new URL("rules.json", import.meta.url), "utf8"));
`;

const set: Subject = {
  name: "MerchantRuleSet",
  program: `${definitions}
import { MerchantRuleSet } from "pulumi-merchant-rules";
new MerchantRuleSet("rules", { rules });
`,
  files: {},
  service: "local",
  isAtService: true,
  isOwn: true,
  updatesTenth: true,
};

/** The same, at a server that this project did not write. */
const setAtWireMock: Subject = { ...set, name: "MerchantRuleSet at WireMock", service: "wiremock" };

/** The same rules as JSON texts. */
const texts: Subject = {
  ...set,
  name: "MerchantRuleSet of texts",
  program: `${definitions}
import { MerchantRuleSet, ruleTexts } from "pulumi-merchant-rules";
new MerchantRuleSet("rules", { rules: ruleTexts(rules) });
`,
};

const single: Subject = {
  name: "MerchantRule × N",
  program: `${definitions}
import { MerchantRule } from "pulumi-merchant-rules";
for (const [name, definition] of Object.entries(rules)) new MerchantRule(name, { definition });
`,
  files: {},
  service: "local",
  isAtService: true,
  isOwn: true,
  updatesTenth: false,
};

const doNothing: Subject = {
  name: "do-nothing × N",
  program: `${definitions}
import * as pulumi from "@pulumi/pulumi";
const __provider = 'exports.handler=()=>require("./do-nothing.ts")';
for (const [name, definition] of Object.entries(rules))
  new pulumi.CustomResource("pulumi-nodejs:dynamic/bench:DoNothing", name, { definition, __provider });
`,
  files: { "do-nothing.ts": readFileSync(new URL("do-nothing.ts", import.meta.url), "utf8") },
  service: "local",
  isAtService: false,
  isOwn: true,
  updatesTenth: false,
};

/** All rules as texts in one resource that does nothing: what the engine and the hosts take of a set's time. */
const doNothingTexts: Subject = {
  ...doNothing,
  name: "do-nothing set of texts",
  program: `${definitions}
import * as pulumi from "@pulumi/pulumi";
import { ruleTexts } from "pulumi-merchant-rules";
const __provider = 'exports.handler=()=>require("./do-nothing.ts")';
new pulumi.CustomResource("pulumi-nodejs:dynamic/bench:DoNothing", "rules", { definition: ruleTexts(rules), __provider });
`,
  updatesTenth: true,
};

/** The same nothing, written as Pulumi's pages show it: the code of the hooks is serialized into every resource. */
const serialized: Subject = {
  name: "dynamic.Resource × N",
  program: `${definitions}
import * as pulumi from "@pulumi/pulumi";
const hooks = {
  async diff(_id, olds, news) {
    return { changes: JSON.stringify(olds.definition) !== JSON.stringify(news.definition) };
  },
  async create(inputs) {
    return { id: "nothing", outs: inputs };
  },
  async update(_id, _olds, news) {
    return { outs: news };
  },
};
for (const [name, definition] of Object.entries(rules)) new pulumi.dynamic.Resource(hooks, name, { definition });
`,
  files: {},
  service: "local",
  isAtService: false,
  isOwn: true,
  updatesTenth: false,
};

/** The same rules with another tool; see open-tofu.ts. */
const restObject: Subject = {
  name: "restapi_object × N",
  program: "",
  files: {},
  service: "local",
  isAtService: true,
  isOwn: false,
  updatesTenth: false,
};

export const subjects = { set, texts, setAtWireMock, single, doNothing, doNothingTexts, serialized, restObject };
