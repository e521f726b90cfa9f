import { faultMatrix } from "../matrix.ts";

faultMatrix("updates by POST");
