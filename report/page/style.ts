/** The style of all pages: reports, the catalog, the live page of the local service. */
export const style = `
:root { color-scheme: light dark; --text: light-dark(#1c2024, #e6e8ea); --quiet: light-dark(#5a6370, #9aa4b0);
  --line: light-dark(#d8dde3, #363c44); --back: light-dark(#fff, #14171a); --card: light-dark(#f6f8fa, #1c2025);
  --loss: light-dark(#b3261e, #ff8a80); --difference: light-dark(#8a5a00, #f2c14e); --gain: light-dark(#1a6b36, #6fd08c);
  --calm: light-dark(#1f5a99, #82b8f5); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 3rem; color: var(--text); background: var(--back);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 1rem; }
h2, h3 { display: inline; font-size: 1.1rem; margin: 0; }
h3 { font-size: 1rem; }
summary { cursor: pointer; padding: .6rem 0; }
details { border-top: 1px solid var(--line); margin-top: 1rem; }
.loss > summary { color: var(--loss); } .difference > summary { color: var(--difference); }
.gain > summary { color: var(--gain); } .quiet > summary { color: var(--calm); }
.count { font-weight: 400; color: var(--quiet); }
.symbol { font-family: ui-monospace, monospace; }
article { background: var(--card); border-radius: .4rem; margin: 0 0 .6rem; padding: .6rem .8rem; break-inside: avoid; }
.about { color: var(--quiet); font-size: .875rem; margin: .1rem 0 0; }
.words { margin: .3rem 0 0; }
.words .side { color: var(--quiet); font-size: .875rem; }
.about span:not(:last-child)::after { content: " ·"; }
code { font: .875rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; }
table { border-collapse: collapse; margin-top: .5rem; table-layout: fixed; width: 100%; }
th, td { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
thead th { border-top: 0; color: var(--quiet); font-size: .8rem; font-weight: 400; }
tbody th { font-weight: 400; }
.error, .warning, .note { border-left: .25rem solid; border-radius: .2rem; background: var(--card); margin: .6rem 0; padding: .5rem .8rem; white-space: pre-wrap; }
.error, .error strong { color: var(--loss); } .warning { border-color: var(--difference); } .note { border-color: var(--line); color: var(--quiet); }
.rule { border: 0; margin: .3rem 0 0; }
.rule > summary { color: var(--quiet); font-size: .875rem; padding: .1rem 0; }
.rule > pre { margin: .2rem 0 0; overflow-x: auto; }
section > h2 { display: block; margin: 1.5rem 0 .3rem; }
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr, th, td { display: block; }
  tr { border-top: 1px solid var(--line); padding: .3rem 0; }
  th, td { border: 0; padding: .1rem 0; }
  td::before { content: attr(data-side) ": "; color: var(--quiet); font-size: .8rem; }
}
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  details::details-content { content-visibility: visible; display: block; }
  article { border: 1px solid var(--line); }
}
`;

/** Beside that, of pages with the list of all rules. */
export const rulesStyle = `
h2 { display: block; margin: 1rem 0 .5rem; }
.controls { display: flex; flex-wrap: wrap; gap: .6rem; align-items: end; margin: 1rem 0 .5rem; }
.controls label { display: flex; flex-direction: column; flex: 1 1 9rem; min-width: 0; font-size: .8rem; color: var(--quiet); }
.controls label[hidden] { display: none; }
.controls .wide { flex: 3 1 16rem; }
:is(.controls input, .controls select, .controls button, #more) { font: inherit; font-size: 1rem; min-height: 2.5rem; width: 100%; padding: .3rem .6rem;
  color: var(--text); background: var(--card); border: 1px solid var(--quiet); border-radius: .4rem; }
:is(.controls button, #more) { flex: 0 1 auto; width: auto; cursor: pointer; }
.controls :disabled { opacity: .5; }
:focus-visible { outline: .15rem solid var(--calm); outline-offset: .1rem; }
#rules { list-style: none; margin: 0; padding: 0; }
#rules li { content-visibility: auto; contain-intrinsic-size: auto 2.9rem; border-top: 1px solid var(--line); }
#rules li[hidden] { display: none; }
#rules details { border: 0; margin: 0; }
#rules pre { background: var(--card); border-radius: .4rem; margin: .2rem 0 1rem; padding: .6rem .8rem; }
#rules table { margin-bottom: .6rem; }
#rules .words { display: block; margin: .2rem 0 0; }
.name { font-weight: 600; }
.badge { display: inline-block; border: 1px solid; border-radius: 1rem; padding: 0 .6rem; font-size: .8rem; font-weight: 400; }
.badge.loss { color: var(--loss); } .badge.difference { color: var(--difference); }
.badge.gain { color: var(--gain); } .badge.quiet { color: var(--calm); }
td.loss { color: var(--loss); }
#rules .fresh > details > summary { animation: fresh 3s; }
@keyframes fresh { from { background: color-mix(in srgb, var(--gain) 30%, transparent); } }
@media (prefers-reduced-motion: reduce) { #rules .fresh > details > summary { animation: none; } }
.beside { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 2rem; align-items: start; }
.requests { position: sticky; top: 1rem; font-size: .875rem; }
.requests table { table-layout: auto; margin: 0; }
.requests :is(th, td) { white-space: nowrap; }
.requests td:nth-child(3) { white-space: normal; }
.scrolled { max-height: 80vh; overflow: auto; }
@media (max-width: 60rem) {
  .beside { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .requests { position: static; order: -1; }
  .scrolled { max-height: 9rem; }
}
@media (max-width: 40rem) {
  .requests thead { display: none; } .requests tbody { display: block; } .requests tr { display: flex; gap: .6rem; }
  .requests td::before { content: none; }
}
@media print {
  .controls, .requests { display: none; }
  #rules li { content-visibility: visible; break-inside: avoid; }
}
`;
