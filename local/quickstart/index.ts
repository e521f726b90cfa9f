export { type QuickstartOptions, type QuickstartSetting, quickstart } from "./main.ts";
