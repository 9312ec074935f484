import { describe, expect, test } from 'vitest';
import { painter } from '../report/table.js';
import { stacObjectives } from './judge.js';
import type { Measured } from './measure.js';
import { failing, measuredFixture, slower } from './records.fixture.js';
import { precise, range, renderJson, renderPage, renderTerminal, type Report } from './report.js';
import {
  el,
  emphasisToHtml,
  linearTicks,
  label,
  linear,
  logarithmic,
  renderHtml,
  logTicks,
} from './report-html.js';

const fast = measuredFixture({ variants: { faulted: slower(1.1) } });
const mix = measuredFixture({ mode: 'mix', p95Ms: 200, variants: { faulted: slower(1.2) } });
const noisy = measuredFixture({ variants: { again: slower(1.5) } });

const reportOf = (...runs: Measured[]): Report => ({
  seed: 3,
  calls: 200,
  quick: false,
  runs,
  objectives: stacObjectives(runs),
  tookMs: 600_000,
});
const allVariants = (wallMsOf: (n: number) => number) => {
  const change = ({ n }: { readonly n: number }) => ({ wallMs: wallMsOf(n) });
  return { baseline: change, again: change, faulted: change };
};

/** The bounds of labels at 7 px a character, an upper bound for system fonts at 12 px. */
const labelsIn = (svg: string) =>
  [...svg.matchAll(/<text x="([-\d.]+)" y="([-\d.]+)"([^>]*)>([^<]*)</g)].map(
    ([, x, y, rest = '', text = '']) => {
      const width = 7 * text.length;
      const before = rest.includes('"end"') ? 1 : rest.includes('"middle"') ? 0.5 : 0;
      const left = Number(x) - before * width;
      return { text, left, right: left + width, y: Number(y) };
    },
  );
const onTerminal = (...runs: Measured[]) => renderTerminal(reportOf(...runs), painter(false));

describe('on the terminal', () => {
  test('every tool has a row, after the noise rule and before the result', () => {
    const text = onTerminal(fast, mix);
    expect(text).toMatch(/get_item +1 +100\.0 % +0 +1 .*\+10\.0 %/);
    expect(text).toMatch(/all calls .*\+20\.0 %/);
    expect(text.indexOf('measured twice')).toBeLessThan(text.indexOf('get_root'));
    expect(text.trimEnd().endsWith('Every threshold is met.')).toBe(true);
  });

  test('a run that did not count is shown next to the repeated run', () => {
    const text = onTerminal(noisy, fast);
    expect(text.match(/50 ms, fast faults: every tool/g)).toHaveLength(1);
    expect(text).toMatch(/50 ms, fast faults .*\+50\.0 % .* no /);
    expect(text).toMatch(/50 ms, fast faults .*±0\.0 % .* yes /);
  });

  test('the first violations are listed', () => {
    const variants = {
      faulted: () => ({ contradiction: 'reports 1 retries, the upstream observed 0' }),
    };
    const text = onTerminal(measuredFixture({ variants }));
    expect(text).toContain('get_root 0: reports 1 retries, the upstream observed 0');
    expect(text).toContain('… and 2395 more');
    expect(text.trimEnd().endsWith('A threshold is missed.')).toBe(true);
  });

  test('noise is distinguished from a missed threshold', () => {
    expect(onTerminal(noisy)).toContain('too noisy: two identical variants differ too much');
  });
});

describe('as Markdown', () => {
  test('has the objectives, the scenarios and the noise rule', () => {
    const page = renderPage(reportOf(fast, mix));
    expect(page).toContain('200 calls of each tool in each variant, seed 3');
    expect(page).toContain('npm run drill:stac -- --markdown docs/drill-stac.md');
    expect(page).toContain(
      '| p95, fast faults, 50 ms | ≤ +35 % | +10.0 % (+10.0 % … +10.0 %) | **✔ met** |',
    );
    expect(page).toContain('### 200 ms, one fault in five a timeout, hedging');
    expect(page).toContain('between −9.1 % and +10.0 %');
  });
});

describe('as HTML', () => {
  const html = renderHtml(reportOf(fast, mix));

  test('is self-contained', () => {
    expect(html).not.toMatch(/(src|href)=|url\(|@import|<script/);
    expect(html.match(/<svg /g)).toHaveLength(6);
    expect(html).toContain('class="verdict good"');
  });

  test('closes every element', () => {
    for (const name of ['svg', 'table', 'figure', 'section', 'text', 'span', 'ul']) {
      const opened = html.match(new RegExp(`<${name}[ >]`, 'g'))?.length;
      expect(opened).toBeGreaterThan(0);
      expect(html.match(new RegExp(`</${name}>`, 'g'))).toHaveLength(opened!);
    }
    expect(html).not.toContain('NaN');
    expect(html).not.toContain('undefined');
  });

  test('marks noise and a missed threshold', () => {
    expect(renderHtml(reportOf(noisy))).toContain('class="verdict noisy"');
    const missed = measuredFixture({ variants: { faulted: failing('get_item', 30) } });
    expect(renderHtml(reportOf(missed))).toContain('class="verdict bad"');
  });

  test.for([
    ['ordinary runs', [fast, mix]],
    ['no call as slow as the threshold', [measuredFixture({ variants: allVariants(() => 50) })]],
    [
      'a threshold near the right edge',
      [measuredFixture({ variants: allVariants((n) => (n < 2 ? 71 : 50)) })],
    ],
    [
      'a tick at the right edge',
      [measuredFixture({ variants: allVariants((n) => (n === 0 ? 480 : 9)) })],
    ],
    [
      'a tick at the left edge',
      [measuredFixture({ variants: allVariants((n) => (n === 0 ? 9000 : 500)) })],
    ],
  ] as const)('keeps every label inside its plot: %s', ([, runs]) => {
    const outside = renderHtml(reportOf(...runs))
      .split('<svg ')
      .slice(1)
      .flatMap((picture) => {
        const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(picture)!.map(Number);
        return labelsIn(picture).filter(
          ({ left, right, y }) => left < 0 || right > width! || y < 10 || y > height! - 2,
        );
      });
    expect(outside).toEqual([]);
  });

  test('escapes text', () => {
    expect(label(1, 2, '<b>&"')).toBe('<text x="1" y="2">&lt;b&gt;&amp;&quot;</text>');
    expect(el('i', { a: '"', b: 1 / 3 })).toBe('<i a="&quot;" b="0.33"/>');
    expect(emphasisToHtml('**a** *b* `c` <d>')).toBe(
      '<strong>a</strong> <em>b</em> <code>c</code> &lt;d&gt;',
    );
  });
});

test('as JSON, with every figure', () => {
  const read = JSON.parse(renderJson(reportOf(noisy, fast))) as {
    exitCode: number;
    runs: { counts: boolean; load: number; tools: unknown[]; variants: { curve: number[] }[] }[];
  };
  expect(read.exitCode).toBe(0);
  expect(read.runs.map(({ counts }) => counts)).toEqual([false, true]);
  expect(read.runs[1]).toMatchObject({
    load: 1,
    ratios: { faulted: { ratio: expect.any(Number) } },
  });
  expect(read.runs[1]?.tools).toHaveLength(12);
  expect(read.runs[1]?.variants[0]?.curve).toHaveLength(201);
});

test('scales and ticks', () => {
  expect(linear([0, 10], [100, 200])(5)).toBe(150);
  expect(logarithmic([1, 100], [0, 1])(10)).toBeCloseTo(0.5, 12);
  expect(logTicks(8, 250)).toEqual([10, 20, 50, 100, 200]);
  expect(linearTicks(545)).toEqual([0, 100, 200, 300, 400, 500]);
  expect(linearTicks(1.3)).toEqual([0, 0.5, 1]);
});

test.for([
  [7.412, '7.41 ms'],
  [42.19, '42.2 ms'],
  [317.6, '318 ms'],
  [1346, '1.35 s'],
  [15_090, '15.1 s'],
] as const)('formats %f milliseconds as %s', ([ms, text]) => {
  expect(precise(ms)).toBe(text);
});

test('a range of one value is a number', () => {
  expect([range([1, 1]), range([1, 6])]).toEqual(['1', '1–6']);
});
