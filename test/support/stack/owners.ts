import { hash } from "node:crypto";
import type { Session } from "../../../provider/hooks/session.ts";
import { isUnknown } from "../../../provider/host/wire.ts";
import { markText, namesOf, type Owner, ownerOf, parsedMark, resourceHash } from "../../../provider/merchant/mark.ts";
import { linkIn, linkText, type Site, siteIn, siteText } from "../../../provider/merchant/site.ts";
import { connectionName, ownerInput, stateVersion } from "../../../provider/state/state.ts";
import { isMerchantRulesError } from "../../../sdk/errors.ts";
import type { JsonObject } from "../../../sdk/json/index.ts";

/** The address of a site that names the place which a host reaches: `filled` puts that place in its stead. */
export const here = "here";

/** The inputs of one resource of the stack shop/prod: they say whose they are, as those of the resource's constructor do. */
export function resource(name: string, inputs: JsonObject): JsonObject {
  return { ...inputs, ...ownedBy(ownerOf("shop", "prod", name)) };
}

/**
 * The inputs by which a resource says who it is, as its class adds them: its names, and the link that its Connection gives.
 * @param identity the hash that the Connection remembers; null: it remembers none
 */
export function ownedBy(owner: Owner, identity: string | null = null): JsonObject {
  return linked({ __owner: { [owner]: null } }, { identity });
}

/** The inputs with the link of a Connection that remembers this place. What is not said of it is as the host has it. */
export function linked(inputs: JsonObject, site: Partial<Site> = {}): JsonObject {
  const owner = ownerInput(inputs);
  const [project = "shop", stack = "test"] = owner === "" ? [] : owner.split("/");
  const link = { ownerId: ownerIdOf(owner), names: `${project}/${stack}`, site: { ...placeHere, ...site } };
  return { ...inputs, __connection: linkText(link) };
}

/** Outputs of rules that were last proven to be at this place. */
export function placed(outputs: JsonObject, site: Partial<Site> = {}): JsonObject {
  return { stateVersion, ...outputs, at: siteText({ ...placeHere, ...site }) };
}

const placeHere: Site = { connection: "default", address: here, key: null, identity: null };

/** The owner id of a stack: each stack of the tests has one of its own. A resource without names is of shop/test. */
export function ownerIdOf(owner: Owner): string {
  const [project, stack] = owner === "" ? ["shop", "test"] : owner.split("/");
  return hash("sha256", `${project}/${stack}`).slice(0, 32);
}

/** The mark that such a resource writes, with fixed bits in place of random ones. */
export function markBy(owner: Owner, key = "", bits: string = noBits): string {
  return markWith(ownerIdOf(owner), owner, key, bits);
}

/** A mark of another stack than that of the test, with the same names. */
export function othersMarkBy(owner: Owner, key = ""): string {
  return markWith("f".repeat(32), owner, key, noBits);
}

function markWith(ownerId: string, owner: Owner, key: string, bits: string): string {
  return markText({ ownerId, resource: resourceHash("", owner, key), bits, names: namesOf(owner, key) });
}

const noBits = "0".repeat(16);

/** A mark without its random bits, to be compared with that of {@link markBy}; any other value as it is. */
export function withoutBits(text: unknown): unknown {
  const mark = parsedMark(text);
  return mark === undefined ? text : markText({ ...mark, bits: noBits });
}

/**
 * Properties as the engine has them when Owner and Connection are made, where a test has left that out: inputs get the link
 * of a Connection that remembers the place which the session reaches now, outputs of rules their place and version, too.
 * What a test says itself stays.
 * @param before the properties of the same resource before, whose link stays where the connection is the same
 */
export function filled(properties: JsonObject, session: Session, before: JsonObject = {}): JsonObject {
  if (isUnknown(properties.connection)) return properties;
  try {
    const place = session.place(connectionName(properties));
    const { __connection: said = linked({ __owner: properties.__owner ?? {} }).__connection } = properties;
    const link = linkIn(said);
    // A value that a preview does not know yet, or what a test means to be no link.
    if (link === undefined) return properties;
    const now = place.site(link.ownerId);
    const kept = properties.__connection === undefined || isHere(link.site) ? linkIn(before.__connection) : undefined;
    const isKept = kept !== undefined && !isHere(kept.site) && kept.site.connection === now.connection;
    if (isKept && [null, kept.site.identity].includes(link.site.identity))
      return { ...properties, __connection: linkText(kept) };
    return { ...properties, __connection: linkText({ ...link, site: inPlace(link.site, now) }) };
  } catch (error) {
    // Settings that are missing are for the hook to refuse.
    if (isMerchantRulesError(error)) return properties;
    throw error;
  }
}

/** Inputs that a hook gave back for those that a test gave: without the link that {@link filled} has put into them. */
export function unfilled({ __connection: link, ...inputs }: JsonObject, given: JsonObject): JsonObject {
  return link === undefined || given.__connection === undefined ? inputs : { ...inputs, __connection: link };
}

/** The same as {@link filled} for outputs of rules. */
export function filledOutputs(outputs: JsonObject, session: Session): JsonObject {
  const properties = filled(outputs, session);
  const link = linkIn(properties.__connection);
  if (link === undefined) return properties;
  const at = siteIn(outputs.at);
  return {
    stateVersion,
    ...properties,
    ...(outputs.at === undefined ? { at: siteText(link.site) } : {}),
    ...(at === undefined ? {} : { at: siteText(inPlace(at, link.site)) }),
  };
}

function isHere({ address }: Site): boolean {
  return address === here;
}

function inPlace(site: Site, now: Site): Site {
  return isHere(site) ? { ...now, identity: site.identity } : site;
}
