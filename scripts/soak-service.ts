// The service of the soak, in a process of its own, so that what it needs is not taken for the provider's.
import { z } from "zod";
import { faultSchema } from "../local/service/faults/schema.ts";
import { localCredentials, startLocalService } from "../local/service/index.ts";
import { loadPreset } from "../sdk/contract/index.ts";

const messageSchema = z.object({ faults: z.array(faultSchema) });

const service = await startLocalService({ contract: loadPreset("illustrative") });
// Each message sets the faults from now on; the answer says how things stand.
process.on("message", (message) => {
  const injected = service.faults.injected.length;
  const { faults } = messageSchema.parse(message);
  if (faults.length === 0) service.faults.clear();
  else service.faults.set(faults);
  process.send?.({ injected, requests: service.requestCount(), rules: service.rules().map(({ rule }) => rule) });
});
process.once("disconnect", () => process.exit());
process.send?.({ url: service.url, token: localCredentials.token });
