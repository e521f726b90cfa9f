import { faultMatrix } from "../matrix.ts";

faultMatrix("a namesake, by marks");
