import { faultMatrix } from "../matrix.ts";

faultMatrix("seed with delete");
