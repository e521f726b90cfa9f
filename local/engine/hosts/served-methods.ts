import { createRequire } from "node:module";
import type * as Grpc from "@grpc/grpc-js";

export type Failure = Partial<Grpc.ServiceError>;
type Respond = (error: Failure | null | undefined, response: unknown, trailer?: Grpc.Metadata) => void;
export type Method = (call: unknown, respond: Respond) => unknown;

/** Loads the gRPC library that a provider host uses. */
export function grpcOf(script: string): typeof Grpc {
  return createRequire(script)("@grpc/grpc-js");
}

/** Wraps the methods of every service that a provider host serves. To be called there, before it starts; the last wrapper is the innermost. */
export function wrapServedMethods({ Server }: typeof Grpc, wrap: (method: Method) => Method): void {
  const addService = Server.prototype.addService;
  Server.prototype.addService = function add(service, implementation) {
    for (const name of Object.keys(service)) {
      const method: unknown = implementation[name];
      if (isMethod(method)) Object.defineProperty(implementation, name, { value: wrap(method), configurable: true });
    }
    addService.call(this, service, implementation);
  };
}

export function isMethod(value: unknown): value is Method {
  return typeof value === "function";
}
