// The list of rules in a page: search, filters, and a row for each rule. All text of rules is foreign: it becomes text of
// the page and never markup.

/**
 * @typedef {object} Rule as report/page/rules-page.ts gives it
 * @property {string} id
 * @property {string} name
 * @property {string} state
 * @property {string} weight
 * @property {string[]} about
 * @property {string} connection
 * @property {string} [words] what the rule says, a line for each that it holds
 * @property {string} text the rule as JSON; empty where it is not known
 * @property {[path: string, before: string, after: string][]} paths
 */
/** @typedef {{ rule: Rule, row?: HTMLLIElement, searched?: string, fields?: Map<string, string[]> }} Entry */

/** So many rows at once keep the page quick; more are added when the end of the list comes into sight. */
const rowsAtOnce = 200;
const learntAtOnce = 250;
/** Of a rule's words the list shows so much; of a definition with several rules the first. */
const mostOfWords = 300;
const wordLines = 3;

const list = part("rules", HTMLUListElement);
const more = part("more", HTMLButtonElement);
const search = part("search", HTMLInputElement);
const state = part("state", HTMLSelectElement);
const connection = part("connection", HTMLSelectElement);
const field = part("field", HTMLSelectElement);
const value = part("value", HTMLInputElement);
const sides = (list.dataset.sides ?? "").split("|");

/** All rules, in the order of the list. @type {Entry[]} */
let entries = [];
/** Those of them that are asked for; the list has rows of the first ones. @type {Entry[]} */
let matching = [];

for (const control of [search, state, connection, field, value]) control.addEventListener("input", filter);
more.addEventListener("click", () => addRows(rowsAtOnce));
new IntersectionObserver(([seen]) => seen?.isIntersecting && addRows(rowsAtOnce)).observe(more);
addEventListener("beforeprint", () => addRows(matching.length));
part("open", HTMLButtonElement).addEventListener("click", ({ currentTarget }) => {
  const all = [...list.querySelectorAll("details")];
  const opens = all.some((details) => !details.open);
  for (const details of all) details.open = opens;
  if (currentTarget instanceof HTMLElement) currentTarget.textContent = opens ? "Close all" : "Open all";
});
show(JSON.parse(document.getElementById("data")?.textContent ?? "[]"));

/** Shows these rules instead of those that are shown. @param {Rule[]} rules */
function show(rules) {
  entries = rules.map((rule) => ({ rule }));
  filter();
  learn();
}

/** Shows the rules that the controls ask for. */
function filter() {
  value.disabled = field.value === "";
  matching = entries.filter(wanted());
  list.replaceChildren();
  addRows(rowsAtOnce);
}

/** @param {number} most */
function addRows(most) {
  const at = list.childElementCount;
  list.append(...matching.slice(at, at + most).map(rowOf));
  count();
}

function count() {
  more.hidden = list.childElementCount >= matching.length;
  const [all, some] = [entries, matching].map(({ length }) => length.toLocaleString("en"));
  const rules = `${all} ${entries.length === 1 ? "rule" : "rules"}`;
  part("count", HTMLElement).textContent = all === some ? rules : `${some} of ${rules}`;
}

/** The test for what the controls ask for. @returns {(entry: Entry) => boolean} */
function wanted() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sought = value.value.trim().toLowerCase();
  const [path, chosenState, chosenConnection] = [field.value, state.value, connection.value];
  return (entry) =>
    (chosenState === "" || entry.rule.state === chosenState) &&
    (chosenConnection === "" || entry.rule.connection === chosenConnection) &&
    words.every((word) => searchedOf(entry).includes(word)) &&
    (path === "" || (fieldsOf(entry).get(path) ?? []).some((text) => text.toLowerCase().includes(sought)));
}

/** The text in which is searched. @param {Entry} entry */
function searchedOf(entry) {
  const { name, state, about, words = "", text } = entry.rule;
  entry.searched ??= [name, state, ...about, words, text].join("\n").toLowerCase();
  return entry.searched;
}

/** Offers the fields of all rules as a choice; a piece at a time, so that the browser can do other work in between. */
function learn(at = 0) {
  if (at >= entries.length) return;
  setTimeout(() => {
    offerFields(entries.slice(at, at + learntAtOnce));
    learn(at + learntAtOnce);
  });
}

/** @param {Entry[]} some */
function offerFields(some) {
  const known = new Set([...field.options].map((option) => option.value));
  const fresh = new Set(some.flatMap((entry) => [...fieldsOf(entry).keys()]).filter((path) => !known.has(path)));
  // Nobody chooses from more; the search finds them all.
  if (fresh.size === 0 || known.size > 500) return;
  const chosen = field.value;
  const paths = [...known, ...fresh].filter((path) => path !== "").sort();
  field.replaceChildren(new Option("any", ""), ...paths.map((path) => new Option(visible(path), path)));
  field.value = chosen;
}

/** A text in which no character orders the others about: those stand as `\u{202e}`. @param {string} text */
function visible(text) {
  const obeyed = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\uFFFE\uFFFF]/gu;
  return text.replace(obeyed, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The values in a rule by their path, with `[]` for any place in an array. @param {Entry} entry */
function fieldsOf(entry) {
  if (entry.fields !== undefined) return entry.fields;
  /** @type {Map<string, string[]>} */
  const found = new Map();
  /** @param {string} path @param {unknown} inside */
  const look = (path, inside) => {
    if (Array.isArray(inside) && inside.length > 0) for (const each of inside) look(`${path}[]`, each);
    else if (typeof inside === "object" && inside !== null && Object.keys(inside).length > 0)
      for (const [name, each] of Object.entries(inside)) look(path === "" ? name : `${path}.${name}`, each);
    else {
      const values = found.get(path) ?? [];
      values.push(typeof inside === "string" ? inside : JSON.stringify(inside));
      found.set(path, values);
    }
  };
  if (entry.rule.text !== "") look("", JSON.parse(entry.rule.text));
  entry.fields = found;
  return found;
}

/** A rule's row; what is in the rule is added when the row is opened. @param {Entry} entry */
function rowOf(entry) {
  if (entry.row !== undefined) return entry.row;
  const { rule } = entry;
  const details = element("details", "");
  const summary = element("summary", "");
  summary.append(
    element("span", "name", rule.name),
    " ",
    ...(rule.state === "" ? [] : [element("span", `badge ${rule.weight}`, rule.state), " "]),
    element("span", "about", rule.about.join(" · ")),
    ...(rule.words ?? "").split("\n", wordLines).map((line) => element("span", "words", shortened(line))),
  );
  details.append(summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...contentOf(rule));
  });
  const row = element("li", "");
  row.append(details);
  entry.row = row;
  return row;
}

/** Words as the list shows them; the opened rule has all of them. @param {string} line */
function shortened(line) {
  return line.length <= mostOfWords ? line : `${line.slice(0, mostOfWords - 3).trimEnd()}...`;
}

/** @param {Rule} rule @returns {HTMLElement[]} */
function contentOf({ paths, words = "", text }) {
  const rule = element("pre", "");
  rule.append(element("code", "", text === "" ? "(what is in the rule is not known)" : text));
  const lines = words.split("\n");
  const isCut = lines.length > wordLines || lines.some((line) => line.length > mostOfWords);
  const said = isCut ? lines.map((line) => element("p", "words", line)) : [];
  return [...said, ...(paths.length === 0 ? [] : [tableOf(paths)]), rule];
}

/** @param {Rule["paths"]} paths @returns {HTMLElement} */
function tableOf(paths) {
  const table = element("table", "");
  const head = table.createTHead().insertRow();
  for (const title of ["Path", ...sides]) {
    const cell = element("th", "", title);
    cell.scope = "col";
    head.append(cell);
  }
  const body = table.createTBody();
  for (const [path, ...values] of paths) {
    const row = body.insertRow();
    const name = element("th", "");
    name.scope = "row";
    name.append(element("code", "", path));
    row.append(name);
    for (const [index, text] of values.entries()) {
      const cell = element("td", "");
      cell.dataset.side = sides[index] ?? "";
      cell.append(element("code", "", text));
      row.append(cell);
    }
  }
  return table;
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name @param {string} className @param {string} [text]
 */
function element(name, className, text) {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * @template {HTMLElement} Kind
 * @param {string} id @param {new () => Kind} kind @returns {Kind}
 */
function part(id, kind) {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
}
