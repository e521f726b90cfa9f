import { faultMatrix } from "../matrix.ts";

faultMatrix("changes by PATCH");
