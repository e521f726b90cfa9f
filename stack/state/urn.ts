import { defaultProviderName, isProvider, stackType } from "./resource-state.ts";

/** The parts of a URN: `urn:pulumi:<stack>::<project>::<parent types>$<type>::<name>`. */
interface UrnParts {
  readonly stack: string;
  readonly project: string;
  /** The types of the parents and of the resource, outermost first. */
  readonly qualifiedType: string;
  readonly type: string;
  readonly name: string;
}

const prefix = "urn:pulumi:";

/** Builds a URN; the stack resource as parent does not show in it. */
export function makeUrn(
  stack: string,
  project: string,
  parentQualifiedType: string,
  type: string,
  name: string,
): string {
  const hasParent = parentQualifiedType !== "" && parentQualifiedType !== stackType;
  const qualified = hasParent ? `${parentQualifiedType}$${type}` : type;
  return `${prefix}${stack}::${project}::${qualified}::${name}`;
}

/** Takes a URN apart; parts that it lacks are empty. A name may itself hold `::`. */
export function parseUrn(urn: string): UrnParts {
  const [stack = "", project = "", qualifiedType = "", ...name] = urn.slice(prefix.length).split("::");
  return {
    stack,
    project,
    qualifiedType,
    type: qualifiedType.slice(qualifiedType.lastIndexOf("$") + 1),
    name: name.join("::"),
  };
}

/** Decides whether a provider shows nowhere: to the CLI that is each whose name begins as the default one's. */
export function isHiddenProvider(urn: string): boolean {
  const { type, name } = parseUrn(urn);
  return isProvider(type) && name.startsWith(defaultProviderName);
}
