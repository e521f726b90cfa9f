import { faultMatrix } from "../matrix.ts";

faultMatrix("names used again, chosen ids");
