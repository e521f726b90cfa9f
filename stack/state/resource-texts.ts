import { encodeResource } from "./codec.ts";
import type { Crypter } from "./crypter.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { ResourceState } from "./resource-state.ts";

/** The texts under which resources are stored. Each is made once, and again when its resource was changed. */
export class ResourceTexts {
  readonly #crypter: Crypter | undefined;
  readonly #texts = new WeakMap<ResourceState, string>();

  constructor(crypter: Crypter | undefined) {
    this.#crypter = crypter;
  }

  of(resource: ResourceState): string {
    const known = this.#texts.get(resource);
    if (known !== undefined) return known;
    const text = JSON.stringify(encodeResource(resource, this.#crypter));
    this.#texts.set(resource, text);
    return text;
  }

  forgetChanged(entries: readonly JournalEntry[]): void {
    for (const entry of entries) if (entry[0] === "put") this.#texts.delete(entry[2]);
  }
}
