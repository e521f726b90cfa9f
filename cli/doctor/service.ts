import { randomUUID } from "node:crypto";
import { mayBeCut } from "../../provider/refusals/say.ts";
import { type ConnectionSettings, connectionOf } from "../../provider/settings/connection-settings.ts";
import { RulesClient } from "../../sdk/client/index.ts";
import { isMerchantRulesError, type MerchantRulesError } from "../../sdk/errors.ts";
import { printable } from "../../sdk/json/printable.ts";
import type { OnProgress } from "../progress.ts";
import type { Diagnosis } from "./diagnosis.ts";

const mostMs = 10_000;
const mostSkewMs = 60_000;

/** Checks what a run would ask before it writes: credentials, the list to its end, single rules. */
export async function lookAtService(
  settings: ConnectionSettings,
  findings: Diagnosis,
  step: OnProgress,
): Promise<void> {
  const { contract } = settings.client;
  let client: RulesClient;
  let skewMs: number | undefined;
  try {
    const { attemptTimeoutMs, totalTimeoutMs } = contract.limits;
    // One attempt: a person waits for it, and what only works the third time is to be seen.
    const limits = {
      ...contract.limits,
      maxAttempts: 1,
      attemptTimeoutMs: Math.min(attemptTimeoutMs, mostMs),
      totalTimeoutMs: Math.min(totalTimeoutMs, mostMs),
    };
    const connection = { ...connectionOf(settings.client), contract: { ...contract, limits } };
    const onAnswer = ({ date }: { readonly date: string | undefined }): void => {
      const at = date === undefined ? Number.NaN : Date.parse(date);
      if (!Number.isNaN(at)) skewMs = at - Date.now();
    };
    client = new RulesClient(connection, { onAnswer });
  } catch (error) {
    findings.error("token", error);
    findings.skipped(["list", "get"], "not looked at, because there are no credentials");
    return;
  }
  try {
    const known = await lookAtList(client, findings, step);
    if (!findings.has("token", "failed")) await lookAtGet(client, known, findings);
    if (findings.has("token", "failed"))
      findings.skipped(["list", "get"], "not looked at, because the credentials are not accepted");
    else {
      const isObtained = contract.auth.token !== null && settings.client.credentials?.kind === "client";
      if (contract.auth.present === null) findings.ok("token", "the contract has requests without credentials");
      else if (findings.has("list", "ok") || findings.has("get", "ok"))
        findings.ok("token", isObtained ? "a token is obtained, and accepted" : "the credentials are accepted");
      await lookAtIdentity(client, settings, findings);
    }
    sayClock(skewMs, findings);
  } finally {
    await client.close();
  }
}

/** Reads the list to its end. @returns the id of a rule, where there is one */
async function lookAtList(client: RulesClient, findings: Diagnosis, step: OnProgress): Promise<string | undefined> {
  if (client.contract.operations.list === null) {
    findings.skipped("list", "the contract has no operations.list");
    return undefined;
  }
  let pages = 0;
  let cutAt: number | undefined;
  const ids: string[] = [];
  try {
    for await (const live of client.list({
      onPage: () => {
        pages += 1;
      },
      onCut: (length) => {
        cutAt = length;
      },
    })) {
      if (ids.length === 0) await client.demandWhole(live);
      ids.push(live.ruleId);
      step(ids.length);
    }
    const read = `it can be read to its end; rules: ${ids.length}, pages: ${pages}`;
    if (cutAt === undefined) findings.ok("list", read);
    else findings.warning("list", `${read}; ${mayBeCut.what(cutAt)}`, mayBeCut.advice);
  } catch (error) {
    sayFailure("list", error, findings);
  }
  return ids[0];
}

/** Checks that a rule that is there can be read, and one that cannot be there is not found. */
async function lookAtGet(client: RulesClient, known: string | undefined, findings: Diagnosis): Promise<void> {
  if (client.contract.operations.get === null) {
    findings.skipped("get", "the contract has none; rules are looked for in the list");
    return;
  }
  try {
    if (known !== undefined) await client.get(known);
  } catch (error) {
    sayFailure("get", error, findings);
    return;
  }
  const unknown = randomUUID();
  try {
    await client.get(unknown);
    findings.failed(
      "get",
      `the service answers with success for a rule that cannot exist (${unknown}), so nothing proves that a rule is gone`,
      "correct baseUrl and operations.get in the contract; where the service says otherwise that a rule is not there, describe rule.gone",
    );
  } catch (error) {
    if (!isMerchantRulesError(error)) throw error;
    const { code, exchange } = error;
    if (code === "RULE_NOT_FOUND")
      findings.ok(
        "get",
        `${known === undefined ? "" : "a rule of the list can be read, and "}a rule that cannot exist is not found`,
      );
    else if (code === "REJECTED")
      findings.warning(
        "get",
        `a rule that cannot exist is answered ${exchange?.status ?? "otherwise"}, which is not 404`,
        "where the service says so that a rule is not there, describe the answer in errors.notFound of the contract",
      );
    else sayFailure("get", error, findings);
  }
}

async function lookAtIdentity(client: RulesClient, settings: ConnectionSettings, findings: Diagnosis): Promise<void> {
  if (client.contract.auth.identity === null) {
    findings.skipped("identity", "the contract does not say how to find out who the credentials are (auth.identity)");
    return;
  }
  try {
    const found = (await client.identity()) ?? "";
    const { identity: wanted } = settings.place;
    // The client id itself may be who it is.
    const isSecret = "clientId" in client.contract.auth.identity;
    const shown = isSecret ? "the client id" : JSON.stringify(printable(found, 100));
    if (wanted === undefined)
      findings.warning(
        "identity",
        `the credentials are those of ${shown}, and no setting says who they must be`,
        "set merchant-rules:identity, so that other credentials are refused before anything is written",
      );
    else if (wanted === found) findings.ok("identity", `the credentials are those of ${shown}, as the setting says`);
    else
      findings.failed(
        "identity",
        `the credentials are those of ${shown}, and the setting identity says ${JSON.stringify(printable(wanted, 100))}`,
        `give the right credentials: ${settings.client.howToGiveCredentials}; or correct the setting`,
      );
  } catch (error) {
    sayFailure("identity", error, findings);
  }
}

/** Notes a failure. One of the credentials is about them, whatever was asked. */
function sayFailure(check: "list" | "get" | "identity", error: unknown, findings: Diagnosis): void {
  findings.error(isMerchantRulesError(error) && isAboutToken(error) ? "token" : check, error);
}

function isAboutToken({ code, attempted }: MerchantRulesError): boolean {
  return code === "UNAUTHENTICATED" || attempted?.startsWith("request an access token") === true;
}

function sayClock(skewMs: number | undefined, findings: Diagnosis): void {
  if (skewMs === undefined) {
    findings.skipped("clock", "no answer said the time (header Date)");
    return;
  }
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  if (Math.abs(skewMs) < mostSkewMs) findings.ok("clock", "it agrees with the service's to within a minute");
  else
    findings.warning(
      "clock",
      `this machine's clock is ${seconds} s ${skewMs > 0 ? "behind" : "ahead of"} the service's, by which tokens may be refused`,
      "set this machine's clock by a time server",
    );
}
