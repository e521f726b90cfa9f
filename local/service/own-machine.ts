/**
 * Returns why a request is not of a program of this machine, by its headers; undefined where it is. A page of another site
 * is kept out, even when its name was turned to this machine's address: a browser sends that name as the host, and the
 * page's site as the origin.
 */
export function strangerBy(header: (name: string) => string | undefined): string | undefined {
  const host = header("host") ?? "";
  const origin = header("origin");
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/i.test(host))
    return `found host ${JSON.stringify(host)}; allowed: 127.0.0.1 and localhost`;
  if (origin !== undefined && origin !== `http://${host}`)
    return `found origin ${JSON.stringify(origin)}; allowed: none, or http://${host}`;
  return undefined;
}
