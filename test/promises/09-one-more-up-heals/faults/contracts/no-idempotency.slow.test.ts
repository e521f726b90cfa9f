import { faultMatrix } from "../matrix.ts";

faultMatrix("no idempotency");
