import { faultMatrix } from "../matrix.ts";

faultMatrix("names used again, by marks");
