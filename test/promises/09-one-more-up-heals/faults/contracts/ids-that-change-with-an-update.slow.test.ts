import { faultMatrix } from "../matrix.ts";

faultMatrix("ids that change with an update");
