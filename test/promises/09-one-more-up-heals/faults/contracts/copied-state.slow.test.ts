import { faultMatrix } from "../matrix.ts";

faultMatrix("copied state");
