/** A JSON value (RFC 8259). A rule's definition is a JsonObject; its fields are a gap (seed, section 2). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}
