import { faultMatrix } from "../matrix.ts";

faultMatrix("one equal rule of several");
