import { faultMatrix } from "../matrix.ts";

faultMatrix("ids that change, no marks");
