import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf } from "../../support/stack/contracts.ts";
import { type Declared, onBothEngines } from "../../support/stack/engines.ts";
import { openStack } from "../../support/stack/place.ts";

const contract = contractOf({ limits: { maxAttempts: 2 } });
const [a, b] = [rule(1), rule(2)];
const shapes: [string, (a: JsonObject) => Declared][] = [
  ["a set", (a) => ({ all: { rules: { a, b } } })],
  ["resources of one rule", (a) => ({ a: { definition: a }, b: { definition: b } })],
];

onBothEngines((engine) => {
  describe.each(shapes)("of %s", (_, declared) => {
    test.each(["POST", "PUT"])(
      "what a %s made of a rule, and could not be read after it, is looked at by the next run: it does not say that all is as declared",
      async (write) => {
        const { place, stack } = await openStack(engine, { contract, answers: "id" });
        if (write === "PUT") await stack.up(declared(a));
        const changed = { ...a, priority: 7 };
        let isWritten = false;
        place.front.behave(({ method, body }, pass) => {
          // The service loses a field of every rule that it is sent, and answers with the id alone.
          if (method === write) {
            isWritten = true;
            const { actions: _lost, ...others } = isJsonObject(body) ? body : {};
            return pass({ body: { ...others, note: "no actions" } });
          }
          return isWritten && method === "GET" ? { status: 502, body: {} } : pass();
        });
        stack.declare(declared(changed));
        const { code } = await stack.run("up");
        expect(code).not.toBe(0);
        place.front.behave();
        const next = await stack.run("up");
        const isHealed = place.service.rules().every(({ rule: live }) => Object.hasOwn(live, "actions"));
        // One more `up` heals, or says what is wrong.
        expect({ isHealed, isSaid: next.code !== 0 }, next.output).not.toEqual({ isHealed: false, isSaid: false });
      },
    );
  });
});
