import { faultMatrix } from "../matrix.ts";

faultMatrix("another merchant, identity told");
