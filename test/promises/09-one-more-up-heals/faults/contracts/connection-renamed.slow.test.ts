import { faultMatrix } from "../matrix.ts";

faultMatrix("connection renamed");
