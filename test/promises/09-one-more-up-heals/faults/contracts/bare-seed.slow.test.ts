import { faultMatrix } from "../matrix.ts";

faultMatrix("bare seed");
