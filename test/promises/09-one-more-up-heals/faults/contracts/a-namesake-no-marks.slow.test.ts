import { faultMatrix } from "../matrix.ts";

faultMatrix("a namesake, no marks");
