/**
 * Gives each wanted element one of its candidates, none twice, and as many elements one as can have one; the earlier
 * elements come first. Augmenting paths, after Kuhn.
 * @param wanted candidates by element; elements that have the same candidates should share one array
 * @returns the candidate of each element, or undefined
 */
export function matching(wanted: readonly (readonly number[])[]): (number | undefined)[] {
  const groups = new Map<readonly number[], Group>();
  for (const candidates of wanted) groups.set(candidates, { candidates, untried: candidates.values(), taken: [] });
  const takenBy = new Map<number, Group>();
  // No path that begins in one of these ends well, whatever is taken later.
  const exhausted = new Set<Group>();
  for (const candidates of wanted) {
    const group = groups.get(candidates);
    if (group !== undefined && !exhausted.has(group)) takeOneMore(group, takenBy, exhausted);
  }
  for (const [candidate, group] of takenBy) group.taken.push(candidate);
  return wanted.map((candidates) => groups.get(candidates)?.taken.shift());
}

/** The elements that share one array of candidates. */
interface Group {
  readonly candidates: readonly number[];
  /** Candidates not tried yet. A taken one stays taken, so each search for a free one goes on where the last one ended. */
  readonly untried: IteratorObject<number>;
  readonly taken: number[];
}

/** Takes a free candidate for a group, or one of another group, which then takes another, and so on. */
function takeOneMore(start: Group, takenBy: Map<number, Group>, exhausted: Set<Group>): void {
  // A Map gives the keys that are added while it is read: this is the queue of a breadth-first search.
  const reached = new Map<Group, { by: Group; candidate: number } | undefined>([[start, undefined]]);
  for (const group of reached.keys()) {
    const free = group.untried.find((candidate) => !takenBy.has(candidate));
    if (free !== undefined) {
      takenBy.set(free, group);
      for (let step = reached.get(group); step !== undefined; step = reached.get(step.by))
        takenBy.set(step.candidate, step.by);
      return;
    }
    for (const candidate of group.candidates) {
      const other = takenBy.get(candidate);
      if (other !== undefined && !reached.has(other) && !exhausted.has(other))
        reached.set(other, { by: group, candidate });
    }
  }
  for (const group of reached.keys()) exhausted.add(group);
}
