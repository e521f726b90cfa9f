import { faultMatrix } from "../matrix.ts";

faultMatrix("chosen ids");
