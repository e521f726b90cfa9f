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
.about span:not(:last-child)::after { content: " ·"; }
code { font: .875rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; }
table { border-collapse: collapse; margin-top: .5rem; table-layout: fixed; width: 100%; }
th, td { border-top: 1px solid var(--line); padding: .3rem .6rem .3rem 0; text-align: left; vertical-align: top; }
thead th { border-top: 0; color: var(--quiet); font-size: .8rem; font-weight: 400; }
tbody th { font-weight: 400; }
.error, .warning, .note { border-left: .25rem solid; border-radius: .2rem; background: var(--card); margin: .6rem 0; padding: .5rem .8rem; white-space: pre-wrap; }
.error, .error strong { color: var(--loss); } .warning { border-color: var(--difference); } .note { border-color: var(--line); color: var(--quiet); }
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
