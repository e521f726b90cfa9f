import { getMonitor } from "@pulumi/pulumi/runtime/settings.js";
import { getStackResource } from "@pulumi/pulumi/runtime/stack.js";
import { getOrMake } from "../../sdk/get-or-make.ts";

/**
 * Returns what one run of a program has of its kind, and makes it when it is first asked for. All copies of this package in a
 * process share it: a second registration of one name would be an error. Several runs in one process, as in tests, have a
 * stack each; with mocks a monitor.
 * @param kind a name under which all copies of this package, of whatever version, keep values of one form
 */
export function ofRun<T extends object>(kind: string, make: () => T): T {
  const ofProcess: WeakMap<object, T> = getOrMake(
    globals<T>(),
    Symbol.for(`pulumi-merchant-rules:${kind}`),
    () => new WeakMap(),
  );
  return getOrMake(ofProcess, getStackResource() ?? getMonitor() ?? ofProcess, make);
}

function globals<T extends object>() {
  return {
    get: (key: symbol): WeakMap<object, T> | undefined => Reflect.get(globalThis, key),
    set: (key: symbol, value: WeakMap<object, T>): boolean => Reflect.set(globalThis, key, value),
  };
}
