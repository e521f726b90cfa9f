export {
  type CompareOptions,
  canonical,
  type Difference,
  differences,
  isEqual,
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
  jsonObject,
  maxDepth,
  type NotJson,
} from "./json.ts";
export { joinPath, type Path, pathOf } from "./path.ts";
export { isPointer, type Pointer, pointerOf, segmentsOf, valueAt, withoutValueAt, withValueAt } from "./pointer.ts";
export { contains, type Here, walk } from "./walk.ts";
