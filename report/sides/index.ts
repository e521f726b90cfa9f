export { afterRun } from "./after.ts";
export { folderSide } from "./folder.ts";
export { liveSide } from "./live.ts";
export { programSide } from "./program.ts";
export type { Side, SideRule, Standing } from "./side.ts";
export { stackSide } from "./stack.ts";
export { stateSide } from "./state.ts";
