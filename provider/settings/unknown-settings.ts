import { warn } from "@pulumi/pulumi/log/index.js";
import { allConfig } from "@pulumi/pulumi/runtime/config.js";
import { printable } from "../../sdk/json/printable.ts";
import { nearest } from "../../sdk/nearest.ts";
import { settingNames, stackSettings } from "./setting-names.ts";

/** Warns of stack config that nothing reads: only the program sees the names of all of it. */
export function warnOfUnknownSettings(): void {
  const known = [...settingNames, ...stackSettings, "connections", "rules"];
  for (const key of Object.keys(allConfig())) {
    const [, name] = /^merchant-rules:(.*)$/s.exec(key) ?? [];
    if (name === undefined || known.includes(name)) continue;
    const near = nearest(name, known);
    const advice = near === undefined ? `the settings are ${known.join(", ")}` : `did you mean merchant-rules:${near}?`;
    void warn(`the stack's config has ${printable(key)}, which is no setting and has no effect: ${advice}`);
  }
}
