import { faultMatrix } from "../matrix.ts";

faultMatrix("duplicates accepted");
