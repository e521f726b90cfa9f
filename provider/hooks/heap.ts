import { setFlagsFromString } from "node:v8";

/**
 * Makes this process collect its garbage when the heap has grown by 30 % since the last time; unless told, V8 lets a
 * heap of this kind grow to several times what is alive in it. The provider host unpacks whole sets of rules, a call
 * at a time, and needs none of them afterwards. It costs no time that could be measured (docs/performance.md).
 */
export function boundHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=30");
}
