import { isProvider, providerUrn, type ResourceState } from "./resource-state.ts";

/**
 * The first thing wrong with a list of resources, if anything: every resource must stand behind what it needs. The CLI
 * refuses a state for which this does not hold.
 */
export function integrityProblem(resources: readonly ResourceState[]): string | undefined {
  const seen = new Set<string>();
  for (const resource of resources) {
    const urns = [
      resource.parent,
      resource.deletedWith,
      ...resource.dependencies,
      ...Object.values(resource.propertyDependencies).flat(),
    ];
    const missing = urns.find((urn) => urn !== "" && !seen.has(urn));
    if (missing !== undefined) return `${resource.urn} refers to ${missing}, which does not stand before it`;
    if (
      resource.custom &&
      !isProvider(resource.type) &&
      resource.provider !== "" &&
      !seen.has(providerUrn(resource.provider))
    ) {
      return `${resource.urn} refers to the provider ${resource.provider}, which does not stand before it`;
    }
    if (!resource.delete && seen.has(`${resource.urn} live`)) return `${resource.urn} stands there twice`;
    seen.add(resource.urn);
    if (!resource.delete) seen.add(`${resource.urn} live`);
  }
  return undefined;
}
