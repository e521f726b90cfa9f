import { expect, test } from "vitest";
import { isJsonArray, isJsonObject, type Json } from "../../../sdk/json/index.ts";
import { rule } from "../../support/rules.ts";
import { contractOf, list } from "../../support/stack/contracts.ts";
import { type FrontRequest, isList } from "../../support/stack/front.ts";
import { openStack } from "../../support/stack/place.ts";

const offset = { ...list, pagination: { type: "offset", limit: "limit" } } as const;
const contract = contractOf({ operations: { list: offset }, limits: { pageSize: 3 } });
const rules = (count: number, more = 0) =>
  Object.fromEntries(Array.from({ length: count }, (_, k) => [`r${k}`, rule(more + k)]));

/** A page without one of its rules, as it is where another one is deleted while pages are read. */
function without(body: Json | undefined, ruleId: string | undefined): Json | undefined {
  if (!isJsonObject(body) || !isJsonArray(body.rules)) return body;
  return { ...body, rules: body.rules.filter((each) => !isJsonObject(each) || each.id !== ruleId) };
}

test("a rule that a page left out, and that this run deletes while it is looked at, is no harm", async () => {
  const limits = { pageSize: 30, concurrency: 3 };
  const { place, stack } = await openStack("local", { contract: { ...contract, limits } });
  const singles = { q: { definition: rule(20) }, r: { definition: rule(21) } };
  await stack.up({ all: { rules: rules(60, 100) }, ...singles });
  const { service, front } = place;
  const idOf = (name: string) => service.rules().find((each) => each.rule.name === name)?.ruleId;
  const until = async (isSo: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 200 && !isSo(); turn += 1) await new Promise((later) => setTimeout(later, 10));
  };
  const own = [idOf("rule-20"), idOf("rule-21")];
  const last = idOf("rule-159");
  const areGone = (): boolean => idOf("rule-20") === undefined && idOf("rule-21") === undefined;
  let looks = 0;
  front.behave(async (request: FrontRequest, pass) => {
    const isOwnDelete = request.method === "DELETE" && own.some((ruleId) => request.path.endsWith(`=${ruleId}`));
    // The first delete goes alone. The second one of the two ends while those of the set go on.
    if (isOwnDelete && service.rules().length < 62) await until(() => service.rules().length < 58);
    if (request.method === "GET" && request.path.endsWith(`/${last}`) && areGone()) {
      looks += 1;
      if (looks === 1) await until(() => idOf("rule-159") === undefined);
    }
    const answer = await pass();
    return isList(request) && areGone() ? { ...answer, body: without(answer.body, last) } : answer;
  });
  await stack.up({});
  expect(service.rules()).toEqual([]);
  expect(looks).toBeGreaterThan(0);
});

test("a page that repeats the one before it, because rules were made meanwhile, is passed over", async () => {
  const { place, stack } = await openStack("local", { contract });
  await stack.up({ all: { rules: rules(7) } });
  let before: Json | undefined;
  place.front.behave(async (request, pass) => {
    const answer = await pass();
    if (!isList(request)) return answer;
    const isSecond = request.path.includes("offset=3");
    const isThird = request.path.includes("offset=6");
    if (isSecond) before = answer.body;
    return isThird ? { ...answer, body: before } : answer;
  });
  await stack.up({ all: { rules: { ...rules(7), more: rule(30) } } });
  expect(place.names()).toHaveLength(8);
});
