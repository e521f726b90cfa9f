export {
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
} from "./json.ts";
export { joinPath, type Path, pathOf } from "./path.ts";
export { isPointer, type Pointer, pointerOf, segmentsOf, valueAt, withoutValueAt, withValueAt } from "./pointer.ts";
export { contains, walk } from "./walk.ts";
