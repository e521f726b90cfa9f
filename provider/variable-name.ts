/** A setting's name as part of an environment variable: merchantId → MERCHANT_ID, my-sandbox → MY_SANDBOX. */
export function variableName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toUpperCase();
}
