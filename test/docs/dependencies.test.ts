import { expect, test } from "vitest";
import { z } from "zod";
import { pageAt, rowsOf } from "./page.ts";

const versions = z.record(z.string(), z.string());
const manifest = z.object({
  dependencies: versions,
  peerDependencies: versions,
  devDependencies: versions.default({}),
});
const manifests = ["package.json", "local/package.json"].map((file) => manifest.parse(JSON.parse(pageAt(file))));

test("docs/dependencies.md names every dependency, and none that is gone", () => {
  const named = rowsOf(pageAt("docs/dependencies.md")).flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );
  const needed = new Set(manifests.flatMap((each) => Object.values(each).flatMap((group) => Object.keys(group))));
  expect(named.sort()).toEqual([...needed].sort());
});
