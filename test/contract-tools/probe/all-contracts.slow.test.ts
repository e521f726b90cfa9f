import { sought } from "./contracts.ts";
import { seekable } from "./seek.ts";

seekable(sought.filter((_, index) => index % 3 !== 0));
