// A local service in a thread of its own, so that what it costs is not on the clock of the client's thread.
import { parentPort } from "node:worker_threads";
import { startLocalService } from "../../local/service/index.ts";
import { loadPreset } from "../../sdk/contract/index.ts";

parentPort?.postMessage((await startLocalService({ contract: loadPreset("illustrative") })).url);
