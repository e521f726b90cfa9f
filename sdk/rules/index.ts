export {
  type CompareOptions,
  canonical,
  type Difference,
  differences,
  isEqual,
  pathOf,
  project,
  touches,
} from "./compare.ts";
export {
  field,
  findInexactNumber,
  findNotJson,
  isJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  joinPath,
  jsonObject,
  maxDepth,
  type NotJson,
} from "./json.ts";
export { isPointer, type Pointer, pointerOf, segmentsOf, valueAt, withoutValueAt, withValueAt } from "./pointer.ts";
