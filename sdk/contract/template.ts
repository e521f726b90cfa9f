import type { Contract } from "./schema.ts";

const placeholder = /\{([A-Za-z][A-Za-z0-9]*)\}/g;

/** Returns the names that a template uses: ["merchantId"] of `/merchants/{merchantId}/rules`. Other braces are text. */
export function namesIn(template: string): string[] {
  return [...template.matchAll(placeholder)].map((match) => match[1] ?? "");
}

/** Replaces each `{name}` of a template by its value, encoded for where it goes; a name without a value stays. */
export function expand(
  template: string,
  values: Readonly<Record<string, string>>,
  encode: (value: string, name: string) => string = (value) => value,
): string {
  return template.replace(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? whole : encode(value, name);
  });
}

/** Decides whether requests carry client id and secret themselves (`{basic}` in `auth.present.format`). */
export function presentsClient({ present }: Pick<Contract["auth"], "present">): boolean {
  return present !== null && namesIn(present.format).includes("basic");
}
