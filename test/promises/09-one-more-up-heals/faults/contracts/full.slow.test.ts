import { faultMatrix } from "../matrix.ts";

faultMatrix("full");
