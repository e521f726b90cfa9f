import { faultMatrix } from "../matrix.ts";

faultMatrix("provider changed");
