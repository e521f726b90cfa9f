// Keeps the list of rules as the service has them, and shows its last requests.

/** @typedef {{ at: string, method: string, path: string, operation: string, status: string, remark: string }} ServedRequest */

const mostRequests = 50;
const requests = part("requests", HTMLTableSectionElement);
const connected = part("connected", HTMLElement);
const events = new EventSource(list.dataset.events ?? "");

events.addEventListener("open", () => say("live"));
// The browser tries again by itself, and is then sent everything anew.
events.addEventListener("error", () => say("not connected; trying again"));
events.addEventListener("rules", ({ data }) => {
  const { isFirst, rules } = JSON.parse(data);
  if (isFirst) show(rules);
  else {
    entries.push(...rules.map((/** @type {Rule} */ rule) => ({ rule })));
    matching = entries.filter(wanted());
    addRows(Math.max(0, rowsAtOnce - list.childElementCount));
    learn(entries.length - rules.length);
  }
});
events.addEventListener("changed", ({ data }) => {
  const wants = wanted();
  /** @type {{ id: string, rule: Rule | null }[]} */
  const changes = JSON.parse(data);
  for (const { id, rule } of changes) change(id, rule, wants);
  matching = entries.filter(wants);
  count();
});
events.addEventListener("requests", ({ data }) => {
  /** @type {ServedRequest[]} */
  const served = JSON.parse(data);
  for (const each of served) requests.prepend(requestRow(each));
  while (requests.rows.length > mostRequests) requests.deleteRow(-1);
});

/**
 * Shows a rule that was written, a new one above the others, or takes away one that is gone.
 * @param {string} id @param {Rule | null} rule @param {(entry: Entry) => boolean} wants
 */
function change(id, rule, wants) {
  const at = entries.findIndex((entry) => entry.rule.id === id);
  const before = entries[at]?.row;
  if (rule === null) {
    if (at !== -1) entries.splice(at, 1);
    before?.remove();
    return;
  }
  const entry = { rule };
  if (at === -1) entries.unshift(entry);
  else entries[at] = entry;
  offerFields([entry]);
  if (!wants(entry)) before?.remove();
  else if (at === -1 || before?.isConnected) put(rowOf(entry), before);
}

/** Puts a row in the place of another, as open and with the focus as that was; or above all. @param {HTMLLIElement} row @param {HTMLLIElement} [before] */
function put(row, before) {
  row.classList.add("fresh");
  if (before === undefined) {
    list.prepend(row);
    return;
  }
  const [old, details] = [before, row].map((each) => each.querySelector("details"));
  const hasFocus = old?.contains(document.activeElement);
  if (details && old?.open) details.open = true;
  before.replaceWith(row);
  if (hasFocus) details?.querySelector("summary")?.focus();
}

/** @param {ServedRequest} request */
function requestRow({ at, method, path, operation, status, remark }) {
  const row = element("tr", "");
  row.append(
    element("td", "", new Date(at).toLocaleTimeString("en-GB")),
    element("td", /^[23]/.test(status) ? "" : "loss", status),
    element("td", "", `${method} ${path}`),
    element("td", "about", [operation, remark].filter(Boolean).join(", ")),
  );
  return row;
}

/** @param {string} text */
function say(text) {
  connected.textContent = text;
}
