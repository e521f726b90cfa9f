import { RulesClient } from "../../sdk/client/index.ts";
import { isMerchantRulesError } from "../../sdk/errors.ts";
import { valueAt } from "../../sdk/json/index.ts";
import { draftContract } from "../draft.ts";
import { contractFacts } from "./contract-facts.ts";
import { newId } from "./create.ts";
import { deleteOwn, type Proven } from "./delete.ts";
import type { Probing } from "./probing.ts";
import type { Own } from "./sandbox.ts";
import { Stopped } from "./stopped.ts";

/**
 * Makes, reads, lists, changes and deletes one rule by the contract that was found, with the product's own client.
 * @throws Stopped: it does not work
 */
export async function tryContract(probing: Probing, proven: Proven): Promise<void> {
  const { told, plan, findings, names, say } = probing;
  const { contract } = draftContract(contractFacts(told, plan, findings), []);
  say("trying the contract: one rule made, read, listed, changed and deleted by it");
  const client = new RulesClient({ ...told.connection, contract });
  let own: Own | undefined;
  try {
    const { definition, name } = names.next();
    own = await makeBy(probing, client, definition, name);
    const live = await client.get(own.ruleId);
    expectThat(valueAt(live.rule, names.at ?? "") !== undefined, "a GET does not show the rule");
    if (contract.operations.list !== null) {
      const ids = new Set<string>();
      for await (const { ruleId } of client.list()) ids.add(ruleId);
      expectThat(ids.has(own.ruleId), "the list lacks the rule");
    }
    const changed = names.changed(definition);
    if (contract.operations.update !== null && changed !== undefined) {
      await changeBy(probing, client, own, changed.definition);
    }
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    throw doesNotWork(error.message);
  } finally {
    await client.close();
    if (own !== undefined) await deleteOwn(probing, proven, own);
  }
}

async function makeBy(
  { sandbox }: Probing,
  client: RulesClient,
  definition: Own["definition"],
  name: string | undefined,
): Promise<Own> {
  const { result } = await sandbox.attempt("a create by the contract", [], async () => {
    sandbox.asked = { name };
    const chosen =
      client.contract.operations.create.identifyBy === null
        ? {}
        : { ruleId: newId(client.contract.operations.create.idFormat) };
    const { ruleId } = await client.create(definition, chosen);
    const own: Own = { ruleId, definition, name, isGone: false };
    sandbox.own.push(own);
    sandbox.asked = undefined;
    return own;
  });
  return result;
}

async function changeBy(
  { sandbox }: Probing,
  client: RulesClient,
  own: Own,
  definition: Own["definition"],
): Promise<void> {
  await sandbox.attempt("an update by the contract", [own], async () => {
    const updated = await client.update(own.ruleId, definition);
    if (updated !== undefined && updated.ruleId !== own.ruleId) sandbox.own.push({ ...own, isGone: true });
    own.ruleId = updated?.ruleId ?? own.ruleId;
    own.definition = definition;
  });
}

function expectThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw doesNotWork(otherwise);
}

function doesNotWork(why: string): Stopped {
  return new Stopped(`the contract that was found does not work: ${why}`, "correct it by the service's documentation");
}
