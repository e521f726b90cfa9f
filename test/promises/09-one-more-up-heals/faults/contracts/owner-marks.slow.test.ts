import { faultMatrix } from "../matrix.ts";

faultMatrix("owner marks");
