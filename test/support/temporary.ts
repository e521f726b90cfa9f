import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** For vitest: gives a run of tests a folder for all temporary files, and removes it at the end. */
export default function temporary(): () => void {
  const before = tmpdir();
  const folder = mkdtempSync(join(before, "merchant-rules-tests-"));
  process.env.TMPDIR = folder;
  return () => {
    process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
