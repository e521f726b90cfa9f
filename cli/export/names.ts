/** A rule as its name is made from it. */
export interface Nameable {
  readonly ruleId: string;
  /** Its natural key, by which people know it. Undefined where it has none. */
  readonly title: string | undefined;
}

/** A name that is not simply the natural key, or the id. */
export interface Renamed {
  readonly ruleId: string;
  readonly title: string | undefined;
  readonly key: string;
  readonly why: "not usable as it is" | "another rule has it";
}

/**
 * Gives each rule a name: its natural key, else its id, as a key of a set, the name of a resource and the name of a file on
 * every system. The same rules get the same names, in whatever order they come.
 * @param given names that are given already
 * @returns the rules' names by id, and those that are not what one would expect
 */
export function namesOf(
  rules: readonly Nameable[],
  given: readonly string[] = [],
): { names: ReadonlyMap<string, string>; renamed: Renamed[] } {
  const ordered = [...rules].sort(
    (a, b) => compare(a.title ?? a.ruleId, b.title ?? b.ruleId) || compare(a.ruleId, b.ruleId),
  );
  const taken = new Set(given.map((name) => name.toLowerCase()));
  const names = new Map<string, string>();
  const renamed: Renamed[] = [];
  const give = (ruleId: string, key: string): void => {
    taken.add(key.toLowerCase());
    names.set(ruleId, key);
  };
  // Who has a usable name keeps it, whoever else might be given the same.
  const others = ordered.filter(({ ruleId, title = ruleId }) => {
    const isKept = title !== "" && usable(title) === title && !taken.has(title.toLowerCase());
    if (isKept) give(ruleId, title);
    return !isKept;
  });
  for (const { ruleId, title } of others) {
    const base = usable(title ?? ruleId) || usable(ruleId) || "rule";
    let key = base;
    for (let n = 2; taken.has(key.toLowerCase()); n += 1) key = `${base}-${n}`;
    give(ruleId, key);
    renamed.push({ ruleId, title, key, why: key === base ? "not usable as it is" : "another rule has it" });
  }
  return { names, renamed };
}

/** Names of devices on Windows, with whatever comes after a dot. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Keys have at most 200 characters, file names 255 bytes on most systems; the number of a collision comes on top. */
const mostBytes = 180;

/** Returns what of a string can be a name: letters, digits, `_ . @ -` and blanks; empty where nothing is left. */
export function usable(text: string): string {
  const plain = text
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._@ -]+/gu, "-")
    .replace(/^[^\p{L}\p{N}]+/u, "");
  let [kept, bytes] = ["", 0];
  for (const character of plain) {
    bytes += Buffer.byteLength(character);
    if (bytes > mostBytes) break;
    kept += character;
  }
  kept = kept.replace(/[ .-]+$/, "");
  return device.test(kept) ? `rule-${kept}` : kept;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
