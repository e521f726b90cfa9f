/** Decides whether output to a stream may have colours: on a terminal, unless NO_COLOR forbids it (no-color.org). */
export function hasColor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv = process.env): boolean {
  return stream.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}
