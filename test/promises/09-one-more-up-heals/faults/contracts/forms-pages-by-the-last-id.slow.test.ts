import { faultMatrix } from "../matrix.ts";

faultMatrix("forms, pages by the last id");
