/** Cases of one behaviour that differ in a word. `npm test` tries the first of them, or the first `quick`; `npm run test:all` tries all. */
export function variants<const T>(cases: readonly T[], quick = 1): readonly T[] {
  return process.env.TEST_VARIANTS === "all" ? cases : cases.slice(0, quick);
}
