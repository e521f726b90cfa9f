import { faultMatrix } from "../matrix.ts";

faultMatrix("no list");
