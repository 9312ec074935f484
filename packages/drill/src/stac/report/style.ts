/** Colours by what they mean, for light and dark screens. */
export const style = `
:root{--page:#fff;--text:#1c2330;--soft:#667085;--grid:#e4e7ec;--base:#667085;--fault:#b54708;--hedge:#175cd3;--good:#067647;--bad:#b42318}
@media (prefers-color-scheme:dark){:root{--page:#12161f;--text:#e6e9ef;--soft:#98a2b3;--grid:#2a3140;--base:#98a2b3;--fault:#fdb022;--hedge:#84adff;--good:#47cd89;--bad:#f97066}}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1100px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:26px;margin:0}h2{font-size:19px;margin:40px 0 8px}
.lead,figcaption,.legend,summary{color:var(--soft)}
.verdict{font-size:18px;font-weight:600;border-left:4px solid;padding:4px 12px}
.good{color:var(--good)}.bad{color:var(--bad)}.noisy{color:var(--fault)}
.legend span{margin-right:18px;white-space:nowrap}
.legend i{display:inline-block;width:18px;border-top:3px solid;margin-right:6px;vertical-align:middle}
i.baseline{border-color:var(--base)}i.again{border-color:var(--base);border-top-style:dotted}
i.faulted{border-color:var(--fault)}i.hedged{border-color:var(--hedge)}i.bar{border-color:var(--bad);border-top-width:2px}
figure{margin:0 0 20px}.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:20px}
svg{width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--soft)}svg text.bar{fill:var(--bad)}
line.grid{stroke:var(--grid)}line.bar{stroke:var(--bad);stroke-dasharray:3 2}line.span{stroke:var(--grid);stroke-width:4}
line.lowest{stroke:var(--base);stroke-width:2}
.curve{fill:none;stroke-width:2}
.curve.baseline{stroke:var(--base)}.curve.again{stroke:var(--base);stroke-dasharray:2 3}
.curve.faulted{stroke:var(--fault)}.curve.hedged{stroke:var(--hedge)}
circle.baseline{fill:var(--page);stroke:var(--base);stroke-width:2}circle.faulted{fill:var(--fault)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:5px 10px;border-bottom:1px solid var(--grid);white-space:nowrap}
th{color:var(--soft);font-weight:500}.figure{text-align:right;font-variant-numeric:tabular-nums}
details{margin-top:8px}summary{cursor:pointer}li{margin:6px 0;max-width:80ch}
`;
