import { faultMatrix } from "../matrix.ts";

faultMatrix("transitions");
