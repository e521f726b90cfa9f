import { faultMatrix } from "../matrix.ts";

faultMatrix("soft delete");
