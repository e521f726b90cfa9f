import { faultMatrix } from "../matrix.ts";

faultMatrix("credentials changed");
