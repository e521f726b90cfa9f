import { faultMatrix } from "../matrix.ts";

faultMatrix("updates of one version");
