import { afterAll, beforeAll, describe } from "vitest";
import type { ContractInput } from "../../sdk/contract/index.ts";
import { makeStack, type Stack } from "../support/stack/engines.ts";
import { type Front, startFront } from "../support/stack/front.ts";
import { type EngineName, hasPulumi } from "../support/stack/project.ts";
import { contractFileOf } from "../support/stack/service.ts";
import { contract, hasJava, startWireMock, type WireMock } from "./wiremock.ts";

/** WireMock, with no rules at the beginning of a test. */
export interface RealPlace {
  readonly service: WireMock;
  /** Every request of a run to WireMock comes by it. */
  readonly front: Front;
  /** The variables by which a command finds it. */
  readonly environment: Record<string, string>;
  /** A new stack, in a backend of its own. */
  stack(engine: EngineName): Promise<Stack>;
  /** The methods of the requests that may change something, since the last call, in order. */
  writes(): string[];
}

/** Tests at WireMock, over both engines. It is started once for all tests on an engine. */
export function atWireMock(
  tests: (engine: EngineName, open: (spoken?: ContractInput) => Promise<RealPlace>) => void,
): void {
  // One level of suites: the tests of a skipped suite in a skipped one would end as neither skipped nor run.
  describe.skipIf(!hasJava)("at WireMock on the local engine (needs Java 11 or newer)", () => withOne("local"));
  describe.skipIf(!hasJava || !hasPulumi)(
    "at WireMock on Pulumi's own engine (needs Java 11 or newer, and the Pulumi CLI)",
    () => withOne("pulumi"),
  );

  function withOne(engine: EngineName): void {
    let service: WireMock;
    beforeAll(async () => {
      service = await startWireMock();
    });
    afterAll(() => service?.close());
    tests(engine, (spoken = paged) => openAt(service, spoken));
  }
}

/** Pages of three rules, so that every list of a test has several. */
export const paged: ContractInput = { ...contract, limits: { pageSize: 3 } };

async function openAt(service: WireMock, spoken: ContractInput): Promise<RealPlace> {
  await service.removeAll();
  const front = await startFront(service.url);
  const file = contractFileOf(spoken);
  const token = { MERCHANT_RULES_CLIENT_ID: service.user, MERCHANT_RULES_CLIENT_SECRET: service.password };
  const settings = { baseUrl: front.url, contract: file };
  return {
    service,
    front,
    environment: { ...token, MERCHANT_RULES_BASE_URL: front.url, MERCHANT_RULES_CONTRACT: file },
    stack: (engine) => makeStack(engine, settings, token),
    writes: () => front.taken().flatMap(({ method }) => (method === "GET" ? [] : [method])),
  };
}
