import type { Candidate } from "../evaluate/decide.ts";
import type { Rule } from "../language/normal-form.ts";
import type { Semantics } from "../language/schema.ts";
import type { Value } from "../language/values.ts";
import type { Box } from "../proof/box.ts";
import type { BoxIndex } from "../proof/cover.ts";
import type { Space } from "../proof/space.ts";

/** A rule that takes part. */
export interface Examined {
  readonly index: number;
  readonly rule: Rule;
  readonly candidate: Candidate;
}

/** The rules that take part, as all questions see them. */
export interface Subject {
  readonly semantics: Semantics;
  readonly at: Value;
  /** In the order in which they are asked, as far as that is known. */
  readonly rules: readonly Examined[];
  /** With all letters of unknown case as different: a claim is first looked for there. */
  readonly space: Space;
  readonly plain: ReadonlyMap<number, Rule>;
  /** The payments to which each rule surely applies, in that space. */
  readonly certain: ReadonlyMap<number, readonly Box[]>;
  readonly around: BoxIndex<Examined>;
}
