import { RulesClient } from "../../sdk/client/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { type JsonObject, valueAt } from "../../sdk/json/index.ts";
import { draftContract } from "../draft.ts";
import { contractFacts } from "./contract-facts.ts";
import { newId } from "./create.ts";
import { deleteOwn } from "./delete.ts";
import type { Probing } from "./known.ts";
import type { Named, Own } from "./sandbox.ts";
import { Stopped } from "./wire.ts";

/**
 * Makes, reads, lists, changes and deletes one rule by the contract that was found, with the product's own client.
 * @throws Stopped: it does not work
 */
export async function tryContract(probing: Probing): Promise<void> {
  const { told, findings, names, say } = probing;
  const { contract } = draftContract(contractFacts(told, findings), []);
  say("trying the contract: one rule made, read, listed, changed and deleted by it");
  const client = new RulesClient({ ...told.connection, contract });
  let own: Own | undefined;
  try {
    const next = names.next();
    own = await makeBy(probing, client, next);
    const live = await client.get(own.ruleId);
    if (valueAt(live.rule, names.at ?? "") === undefined) throw doesNotWork("a GET does not show the rule");
    if (contract.operations.list !== null) {
      const ids = new Set<string>();
      for await (const { ruleId } of client.list()) ids.add(ruleId);
      if (!ids.has(own.ruleId)) throw doesNotWork("the list lacks the rule");
    }
    const changed = names.changed(next.definition);
    if (contract.operations.update !== null && changed !== undefined)
      await changeBy(probing, client, own, changed.definition);
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    throw doesNotWork(error.message);
  } finally {
    await client.close();
    if (own !== undefined) await deleteOwn(probing, own);
  }
}

async function makeBy({ sandbox }: Probing, client: RulesClient, next: Named): Promise<Own> {
  const { identifyBy, idFormat } = client.contract.operations.create;
  const { result, after } = await sandbox.attempt("a create by the contract", [], async () => {
    sandbox.asked = { name: next.name };
    const { ruleId } = await client.create(next.definition, identifyBy === null ? {} : { ruleId: newId(idFormat) });
    return sandbox.add(ruleId, next);
  });
  await sandbox.settle(after, sandbox.made(result));
  return result;
}

async function changeBy({ sandbox }: Probing, client: RulesClient, own: Own, definition: JsonObject): Promise<void> {
  await sandbox.attempt("an update by the contract", [own], async () => {
    const updated = await client.update(own.ruleId, definition);
    if (updated !== undefined && updated.ruleId !== own.ruleId) sandbox.own.push({ ...own, isGone: true });
    own.ruleId = updated?.ruleId ?? own.ruleId;
    own.definition = definition;
  });
}

function doesNotWork(why: string): Stopped {
  return new Stopped(`the contract that was found does not work: ${why}`, "correct it by the service's documentation");
}
