import { Session } from "../provider/hooks/session.ts";
import type { SettingsSources } from "../provider/settings/sources.ts";
import { isMerchantRulesError } from "../sdk/errors.ts";
import { withProgress } from "./progress.ts";

/** Reads rules over a session of its own, and shows how many; an error says its cause. @param quiet shows nothing */
export async function withSession<T>(
  sources: SettingsSources,
  quiet: boolean,
  read: (session: Session) => Promise<T>,
): Promise<T> {
  return await withProgress(
    "reading rules",
    async (step) => {
      const session = new Session(sources, step);
      try {
        return await read(session);
      } catch (error) {
        throw isMerchantRulesError(error) ? session.explain(error) : error;
      }
    },
    { quiet },
  );
}
