import fc from "fast-check";

/** For vitest: properties are tried with the same values everywhere and always. FUZZ_SEED gives others, by hand. */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? "20261121") });
