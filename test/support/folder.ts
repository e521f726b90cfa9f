import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Makes a folder with these files, texts by their paths. It goes away at the end of the whole run of tests. */
export function newFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "test-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Writes a file into a folder of its own, which goes away at the end of the whole run of tests. Gives its path. */
export function newFile(name: string, text: string): string {
  return join(newFolder({ [name]: text }), name);
}
