import { afterAll, describe, expect, test } from "vitest";
import { acted, found, lineOf, type Sought } from "./contracts.ts";

/** The tests of these services: the probe finds for each a contract that works as the true one. It prints what it found. */
export function seekable(services: readonly Sought[]): void {
  const table: string[] = [];
  describe.each(services)("a service of $name", (service) => {
    test("is probed, and the contract that is found works as the true one", async () => {
      const { probed, truth, found: connection, service: at } = await found(service);
      table.push(lineOf(service.name, probed));
      expect(probed.stopped).toBeUndefined();
      expect(probed.left).toEqual([]);
      expect(at.rules()).toEqual([]);
      const [byTruth, byFound] = [await acted(0, truth, at, service), await acted(1, connection, at, service)];
      expect(byFound).toEqual(byTruth);
      expect(at.rules()).toEqual([]);
    });
  });
  afterAll(() => {
    const head = "| service | id | envelope | delete names it by | update | items | pages | gaps | requests |";
    console.log([head, `|${"---|".repeat(9)}`, ...table].join("\n"));
  });
}
