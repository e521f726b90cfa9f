/** The field in which the engine keeps the code of a dynamic provider; see `providerSource`. */
export const providerField = "__provider";
/**
 * The input by which a resource says who it is: an object whose one field has that name and is null. To the engine null
 * and absent are the same, so a resource that is renamed shows no change here.
 */
export const ownerField = "__owner";
/** The input that holds all that a rule's resource takes from Owner and Connection, as `linkText` writes it. */
export const linkField = "__connection";
/**
 * The input that lists where the program has secrets in the definitions, as pointers: a hook gets every value in plain, and would
 * not know that one of them became a secret.
 */
export const secretsField = "__secrets";
/** The output that has the contract's `rule.secret` by which the other outputs were written. */
export const patternsField = "secretPatterns";

/** The output that is true after an update that failed in part: the inputs beside it are those before it. */
export const unfinishedField = "unfinished";

/** The inputs that programs do not write themselves. */
export const internalFields = [providerField, ownerField, linkField, secretsField];
