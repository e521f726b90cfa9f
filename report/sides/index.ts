export { afterRun } from "./after.ts";
export { folderSide } from "./folder.ts";
export { readLiveSide } from "./live.ts";
export { programSide } from "./program.ts";
export type { RuleSide, SideRule } from "./side.ts";
export { stateSide } from "./state.ts";
