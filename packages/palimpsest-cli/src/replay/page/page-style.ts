// The look of the page: paper and ink, one accent for our own strategy, everything else in shades of the ink. It fetches no font, picture
// or script. Every text color has a contrast of 4.5 or more with its background, in both schemes; a test computes this in a browser.

export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbf9f4; --raised: #f3efe6; --ink: #26221c; --quiet: #696154; --rule: #dcd5c6;
  --own: #9a3c12; --own-fill: #9a3c1226; --area: #6e675a33; --stroke: #6e675a; --mark: #8a6a14; --good: #2f6b34; --bad: #a02c2c;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #181612; --raised: #211e19; --ink: #ebe5d9; --quiet: #a79e8e; --rule: #38332b;
    --own: #eb9a66; --own-fill: #eb9a6633; --area: #a79e8e33; --stroke: #a79e8e; --mark: #d3ae4e; --good: #86c48a; --bad: #ee8f86;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 ui-sans-serif, system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%;
}
main { max-width: 1120px; margin: 0 auto; padding: 48px 24px 72px; }
h1 { font: 600 30px/1.2 ui-serif, Georgia, 'DejaVu Serif', serif; margin: 0 0 8px; letter-spacing: -0.01em; }
h2 { font: 600 22px/1.3 ui-serif, Georgia, 'DejaVu Serif', serif; margin: 64px 0 4px; padding-top: 20px; border-top: 1px solid var(--rule); }
h3 { font-size: 15px; margin: 40px 0 4px; }
p { margin: 0 0 12px; max-width: 70ch; overflow-wrap: anywhere; }
a { color: inherit; text-underline-offset: 3px; }
.quiet, figcaption, th { color: var(--quiet); }
.own { color: var(--own); font-weight: 600; }
nav { display: flex; gap: 18px; flex-wrap: wrap; margin-top: 16px; }
.heads { display: flex; flex-wrap: wrap; gap: 12px 48px; margin: 20px 0 0; padding: 0; list-style: none; }
.heads b { display: block; font: 600 30px/1.2 ui-serif, Georgia, 'DejaVu Serif', serif; color: var(--own); }
.heads small { color: var(--quiet); font-size: 13px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 24px 32px; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: 13px; overflow-wrap: anywhere; }
svg { display: block; width: 100%; overflow: visible; }
svg text { font-size: 11.5px; fill: var(--quiet); }
svg text.own { fill: var(--own); }
.axis { stroke: var(--rule); fill: none; }
.edge { stroke: var(--stroke); fill: none; stroke-dasharray: 1 4; }
.dot { fill: var(--paper); stroke: var(--stroke); stroke-width: 1.5; }
.dot.own { fill: var(--own); stroke: var(--own); }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 22px 28px; margin-top: 16px; }
.panel.wide { grid-column: 1 / -1; }
.panel header { display: flex; justify-content: space-between; gap: 12px; font-size: 13px; }
.panel header span:last-child { color: var(--quiet); text-align: right; }
.panel svg { height: 64px; border-top: 1px dashed var(--rule); border-bottom: 1px solid var(--rule); overflow: hidden; }
.panel.wide svg { height: 190px; }
.panel path { vector-effect: non-scaling-stroke; }
.area { fill: var(--area); stroke: var(--stroke); stroke-width: 1; }
.wide .area { fill: var(--own-fill); stroke: var(--own); stroke-width: 1.4; }
.edits { stroke: var(--mark); stroke-width: 1.5; fill: none; }
.cuts { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 2; fill: none; }
.ends { display: flex; justify-content: space-between; font-size: 12px; color: var(--quiet); }
.key i { display: inline-block; width: 10px; height: 12px; margin: 0 4px 0 14px; vertical-align: -1px; }
.key i.e { border-left: 2px solid var(--mark); }
.key i.c { border-left: 1px dotted var(--ink); }
.scroll { overflow-x: auto; margin-top: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th, td { text-align: right; padding: 5px 8px; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 500; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td.why { text-align: left; white-space: normal; min-width: 16em; }
tr.ours td { background: var(--raised); }
.better { color: var(--good); }
.worse { color: var(--bad); }
.range { display: block; height: 7px; min-width: 84px; margin-top: 2px; }
.range path { vector-effect: non-scaling-stroke; stroke: currentColor; stroke-width: 1.6; fill: none; }
.range .axis { stroke: var(--rule); stroke-width: 1; }
details { margin-top: 24px; }
summary { cursor: pointer; color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; font-size: 13.5px; }
dt { font-weight: 600; }
dd { margin: 0; color: var(--quiet); }
footer { margin-top: 64px; font-size: 13px; color: var(--quiet); }
@media (max-width: 720px) {
  main { padding: 28px 16px 48px; }
  h1 { font-size: 25px; }
  .more { display: none; }
  th, td { padding: 5px 5px; }
  table { font-size: 13px; }
  .range { min-width: 62px; }
  .panel.wide svg { height: 140px; }
  .stack thead { display: none; }
  .stack tr { display: grid; grid-template-columns: 1fr auto auto auto; border-bottom: 1px solid var(--rule); padding: 4px 0; }
  .stack td { border: 0; }
  .stack td.why { grid-column: 1 / -1; padding-left: 0; color: var(--quiet); }
}
`
