// The service of the soak, in a process of its own, so that what it needs is not taken for the provider's.
import { z } from "zod";
import { faultSchema } from "../local/service/faults/schema.ts";
import { localCredentials, startLocalService } from "../local/service/index.ts";
import { loadPreset } from "../sdk/contract/index.ts";

const messageSchema = z.object({ faults: z.array(faultSchema) });
/** Shorter than a long run, so that it needs several tokens. */
const tokenLifeSeconds = 0.25;

const service = await startLocalService({ contract: loadPreset("illustrative"), tokenLifeSeconds });
// Each message sets the faults from now on; the reply says what was injected since the last one, and how things stand.
process.on("message", (message) => {
  const injected = service.faults.injected.length;
  service.faults.set(messageSchema.parse(message).faults);
  process.send?.({
    injected,
    requests: service.requestCount(),
    tokens: service.requestCount("token"),
    rules: service.rules().map(({ rule }) => rule),
  });
});
process.once("disconnect", () => process.exit());
const { clientId, clientSecret } = localCredentials;
process.send?.({ url: service.url, clientId, clientSecret });
