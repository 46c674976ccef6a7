// How a report looks: light and dark, on paper, and from a telephone to a wide screen.

import { html } from './html.ts'

export const REPORT_STYLE = html`<style>
:root { color-scheme: light dark; --page: #fff; --ink: #1c2330; --quiet: #5a6474; --line: #d8dde5; --soft: #f4f6f9;
  --approved: #2e7d4f; --declined: #c77700; --failed: #b3261e; --in-doubt: #7b2fbe; --pending: #8a93a3;
  --cancelled: #5c6b84; --invalid: #8d5a3b; --duplicate: #2f6fb0; --warn: #fdf0d9; --warn-line: #c77700; }
@media (prefers-color-scheme: dark) { :root { --page: #14181f; --ink: #e6e9ef; --quiet: #9aa5b5; --line: #333c4a;
  --soft: #1d232d; --approved: #4caf7a; --declined: #e69a2e; --failed: #ef6a61; --in-doubt: #b07be8; --pending: #7d8797;
  --cancelled: #8496b5; --invalid: #bb8361; --duplicate: #5b9bd8; --warn: #33270f; --warn-line: #e69a2e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .4rem; }
p { margin: .5rem 0; }
a { color: inherit; }
.quiet, figcaption, caption, footer { color: var(--quiet); }
.banner { border: 2px solid var(--warn-line); border-left-width: .6rem; background: var(--warn); padding: .7rem 1rem;
  margin: 1rem 0; border-radius: .3rem; overflow-wrap: anywhere; }
.banner strong { display: block; font-size: 1.1rem; }
.sandbox { border-style: dashed; border-left-style: solid; }
.sandbox strong { font-size: 1.4rem; letter-spacing: .06em; }
.doubt { border-color: var(--in-doubt); }
figure { margin: 1rem 0; }
figure svg { display: block; width: 100%; height: 2.25rem; border-radius: .3rem; }
figcaption { font-size: .875rem; margin-bottom: .3rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .8125rem; }
tr > :last-child { padding-right: 0; }
td.text, dd { overflow-wrap: anywhere; }
td.text { min-width: 12rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.word { white-space: nowrap; }
.id { overflow-wrap: anywhere; min-width: 6.5rem; }
tfoot td { font-weight: 600; border-bottom: 0; }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .15rem; margin-right: .45rem; }
.approved { fill: var(--approved); background: var(--approved); }
.declined { fill: var(--declined); background: var(--declined); }
.failed { fill: var(--failed); background: var(--failed); }
.in-doubt { fill: var(--in-doubt); background: var(--in-doubt); }
.pending { fill: var(--pending); background: var(--pending); }
.cancelled { fill: var(--cancelled); background: var(--cancelled); }
.invalid { fill: var(--invalid); background: var(--invalid); }
.duplicate { fill: var(--duplicate); background: var(--duplicate); }
ul { margin: .5rem 0; padding-left: 1.2rem; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .3rem; padding: .7rem .9rem; margin: .6rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; }
code, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .9em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1.25rem; margin: 0; font-size: .9375rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .75rem; font-size: .8125rem; }
@media screen and (max-width: 40rem) { main { padding: 1rem .85rem 2rem; } h1 { font-size: 1.3rem; }
  table, tbody, tfoot, tr, td { display: block; } thead { display: none; }
  tr { border-bottom: 1px solid var(--line); padding: .45rem 0; }
  td, td.number { display: flex; justify-content: space-between; gap: 1rem; border: 0; padding: .1rem 0; text-align: right;
    white-space: normal; overflow-wrap: anywhere; }
  td::before { content: attr(data-name); color: var(--quiet); text-align: left; flex: none; }
  td.text { display: block; text-align: left; }
  td.text::before { display: block; }
  td.empty { display: none; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; } }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --quiet: #444; --line: #bbb; --soft: #f4f4f4;
  --approved: #2e7d4f; --declined: #c77700; --failed: #b3261e; --in-doubt: #7b2fbe; --pending: #8a93a3;
  --cancelled: #5c6b84; --invalid: #8d5a3b; --duplicate: #2f6fb0; --warn: #fdf0d9; --warn-line: #c77700; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; } .table { overflow: visible; }
  h2, h3 { break-after: avoid; } tr, figure, .banner, pre { break-inside: avoid; } thead { display: table-header-group; } }
</style>`
