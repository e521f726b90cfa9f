import { sep } from "node:path";

const sdk = ["node_modules", "@pulumi", "pulumi", ""].join(sep);

/**
 * Leaves the SDK's and Node's own frames out of stack traces until the function that it returns is called. The SDK sends
 * the trace of every resource's constructor to the engine, which keeps it in the state; what lies below the program's
 * frames is the same for every resource, takes some 250 bytes of each, and costs a look into the SDK's source maps.
 */
export function keepProgramFrames(): () => void {
  // Node maps traces to their sources only where nobody else prepares them.
  if (process.sourceMapsEnabled) return () => undefined;
  const previous = Error.prepareStackTrace;
  const prepare = previous ?? asText;
  Error.prepareStackTrace = (error, sites) => prepare(error, withoutCaller(sites));
  return () => {
    Error.prepareStackTrace = previous;
  };
}

/** The frames on top belong to the constructors, and the SDK counts on them; the first that is not its own is ours. */
function withoutCaller(sites: NodeJS.CallSite[]): NodeJS.CallSite[] {
  const ours = sites.findIndex((site) => !isBelowProgram(site));
  return sites.filter((site, index) => index <= ours || !isBelowProgram(site));
}

function isBelowProgram(site: NodeJS.CallSite): boolean {
  const file = site.getFileName();
  return file === null || file === undefined || file.startsWith("node:") || file.includes(sdk);
}

function asText(error: Error, sites: NodeJS.CallSite[]): string {
  return [String(error), ...sites.map((site) => `    at ${site}`)].join("\n");
}
