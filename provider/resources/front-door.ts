/** Loaded before anything else of the package: a program under a runtime that cannot run it ends with one sentence. */
import { RunError } from "@pulumi/pulumi/errors.js";
import { runtimeFault } from "../host/runtime.ts";

const fault = runtimeFault("the program");
if (fault !== undefined) throw new RunError(`pulumi-merchant-rules: ${fault.reason}. What to do: ${fault.advice}`);
