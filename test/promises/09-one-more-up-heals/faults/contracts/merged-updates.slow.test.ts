import { faultMatrix } from "../matrix.ts";

faultMatrix("merged updates");
