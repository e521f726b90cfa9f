import type { ServedOperation } from "../../local/service/index.ts";
import type { MeasuredService } from "./services.ts";
import type { Subject } from "./subjects.ts";

export type StepName =
  | "create"
  | "preview"
  | "drift check"
  | "merchant-rules drift"
  | "update all"
  | "update every tenth"
  | "destroy";
export type RequestCounts = Readonly<Partial<Record<ServedOperation, number>>>;

export interface Step {
  readonly name: StepName;
  readonly verb: string;
  readonly flags: readonly string[];
  /** The reason that the rule number k is declared with, by which a change is seen at the service. */
  readonly reason: (k: number) => string;
  /** The most requests of each operation that the step may send, without those for a token; undefined for peers. */
  readonly allowed?: RequestCounts;
  readonly rulesAfter: number;
}

/** Where the state is exported to, in the project's folder. */
export const exportFile = "export.json";

/** The steps of the workload over N rules on an empty service, as docs/performance.md describes them. */
export function stepsOf(
  subject: Subject,
  rules: number,
  { listRequests, keepsMarks }: Pick<MeasuredService, "listRequests" | "keepsMarks">,
): Step[] {
  const pages = listRequests(rules);
  const at = (counts: RequestCounts): RequestCounts => (subject.isAtService ? counts : {});
  const rulesAfter = subject.isAtService ? rules : 0;
  const first = (): string => "limit 1";
  const second = (): string => "limit 2";
  const third = (k: number): string => (k % 10 === 0 ? "limit 3" : "limit 2");
  const noChange = "--expect-no-changes";
  // Before the first change of a run, after it, and at the end: of a set once, else as often as resources end apart.
  const looks = subject.updatesTenth ? { list: 3 * pages } : { list: (2 + rules) * pages, get: 6 * rules };
  // An update sends the live rule back: a GET shows that the list has whole rules, and a list whose rows move is read once more.
  const updating = { ...looks, list: looks.list + pages, get: (looks.get ?? 0) + 1 };
  // The same question without the engine, of a state that was exported before.
  const driftStep: Step = {
    name: "merchant-rules drift",
    verb: "drift",
    flags: ["--state", exportFile],
    reason: first,
    allowed: { list: pages },
    rulesAfter,
  };
  const steps: Step[] = [
    { name: "create", verb: "up", flags: [], reason: first, allowed: at({ ...looks, create: rules }), rulesAfter },
    { name: "preview", verb: "preview", flags: [noChange], reason: first, allowed: {}, rulesAfter },
    {
      name: "drift check",
      verb: "refresh",
      flags: ["--preview-only", noChange],
      reason: first,
      allowed: at({ list: pages }),
      rulesAfter,
    },
    ...(subject.isAtService && subject.isOwn ? [driftStep] : []),
    {
      name: "update all",
      verb: "up",
      flags: [],
      reason: second,
      allowed: at({ ...updating, update: rules }),
      rulesAfter,
    },
  ];
  const last = subject.updatesTenth ? third : second;
  if (subject.updatesTenth) {
    const update = Math.ceil(rules / 10);
    steps.push({
      name: "update every tenth",
      verb: "up",
      flags: [],
      reason: last,
      allowed: at({ ...updating, update }),
      rulesAfter,
    });
  }
  const atEnd = keepsMarks ? listRequests(0) : 0;
  const allowed = at({ ...looks, list: looks.list + atEnd, delete: rules });
  steps.push({ name: "destroy", verb: "destroy", flags: [], reason: last, allowed, rulesAfter: 0 });
  return subject.isOwn ? steps : steps.map(({ allowed: _, ...step }) => step);
}
