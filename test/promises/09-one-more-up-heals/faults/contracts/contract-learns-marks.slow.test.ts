import { faultMatrix } from "../matrix.ts";

faultMatrix("contract learns marks");
