import { faultMatrix } from "../matrix.ts";

faultMatrix("another merchant, by marks");
