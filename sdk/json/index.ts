export {
  asWritten,
  type CompareOptions,
  canonical,
  canonicalAt,
  isEqual,
  type Spot,
  spotAt,
  textOf,
} from "./canonical.ts";
export {
  type Difference,
  differences,
  differsUnseen,
  fieldsLackingIn,
  fieldsShown,
  laidOver,
  project,
  touches,
  withoutWriteOnly,
} from "./compare.ts";
export { defined } from "./defined.ts";
export { definitionOf, definitionsOf, exactDefinitionOf } from "./definition.ts";
export { ExactNumber, isExactNumber, numberText, wholeNumberText } from "./exact-number.ts";
export { formerFields, isInArray } from "./former-fields.ts";
export {
  field,
  findInexactNumber,
  findNotJson,
  isJson,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  maxDepth,
} from "./json.ts";
export { mapJson } from "./map-json.ts";
export {
  blindMask,
  hashIn,
  hidden,
  hiddenOther,
  isBlind,
  isMask,
  isMaskedText,
  masked,
  maskOf,
  withoutMasks,
} from "./mask.ts";
export { hasFieldTwice, parseJson, rounded } from "./parse-json.ts";
export {
  isAt,
  isAtOrBelow,
  isPointer,
  type Pointer,
  pointerOf,
  segmentsOf,
  valueAt,
  withFieldAt,
  withoutValueAt,
  withValueAt,
} from "./pointer.ts";
export { contains, joinPath, type Path, pathOf, walk } from "./walk.ts";
