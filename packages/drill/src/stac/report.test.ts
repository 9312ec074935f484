import { describe, expect, test } from 'vitest';
import { painter } from '../report/table.js';
import { stacObjectives } from './judge.js';
import type { Measured } from './measure.js';
import { failing, measuredFixture, slower } from './records.fixture.js';
import { precise, range, renderJson, renderPage, renderTerminal, type Report } from './report.js';
import {
  el,
  emphasised,
  evenSteps,
  label,
  linear,
  logarithmic,
  renderHtml,
  roundNumbers,
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

/** Where labels are, with 7 px for a character: more than a system font takes at 12 px. */
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
  test('every tool has a row, with the rule before the results and the verdict behind them', () => {
    const text = onTerminal(fast, mix);
    expect(text).toMatch(/get_item +1 +100\.0 % +0 +1 .*\+10\.0 %/);
    expect(text).toMatch(/all calls .*\+20\.0 %/);
    expect(text.indexOf('measured twice')).toBeLessThan(text.indexOf('get_root'));
    expect(text.trimEnd().endsWith('Every threshold is met.')).toBe(true);
  });

  test('a run that did not count is shown beside the one that did', () => {
    const text = onTerminal(noisy, fast);
    expect(text.match(/50 ms, fast faults: every tool/g)).toHaveLength(1);
    expect(text).toMatch(/50 ms, fast faults .*\+50\.0 % .* no /);
    expect(text).toMatch(/50 ms, fast faults .*±0\.0 % .* yes /);
  });

  test('what must not happen is told in the words of who noticed, the first few of it', () => {
    const variants = { faulted: () => ({ contradiction: 'says 1 retries, the upstream saw 0' }) };
    const text = onTerminal(measuredFixture({ variants }));
    expect(text).toContain('get_root 0: says 1 retries, the upstream saw 0');
    expect(text).toContain('… and 2395 more');
    expect(text.trimEnd().endsWith('A threshold is missed.')).toBe(true);
  });

  test('noise is told apart from a missed threshold', () => {
    expect(onTerminal(noisy)).toContain('too noisy: two variants that do the same differ too much');
  });
});

describe('as a page', () => {
  test('has all that is needed to judge it', () => {
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

describe('as a file with pictures', () => {
  const html = renderHtml(reportOf(fast, mix));

  test('needs nothing from elsewhere', () => {
    expect(html).not.toMatch(/(src|href)=|url\(|@import|<script/);
    expect(html.match(/<svg /g)).toHaveLength(6);
    expect(html).toContain('class="verdict good"');
  });

  test('closes what it opens', () => {
    for (const name of ['svg', 'table', 'figure', 'section', 'text', 'span', 'ul']) {
      const opened = html.match(new RegExp(`<${name}[ >]`, 'g'))?.length;
      expect(opened).toBeGreaterThan(0);
      expect(html.match(new RegExp(`</${name}>`, 'g'))).toHaveLength(opened!);
    }
    expect(html).not.toContain('NaN');
    expect(html).not.toContain('undefined');
  });

  test('shows noise and a missed threshold as what they are', () => {
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
  ] as const)('keeps every label inside its picture: %s', ([, runs]) => {
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

  test('text is never markup', () => {
    expect(label(1, 2, '<b>&"')).toBe('<text x="1" y="2">&lt;b&gt;&amp;&quot;</text>');
    expect(el('i', { a: '"', b: 1 / 3 })).toBe('<i a="&quot;" b="0.33"/>');
    expect(emphasised('**a** *b* `c` <d>')).toBe(
      '<strong>a</strong> <em>b</em> <code>c</code> &lt;d&gt;',
    );
  });
});

test('as JSON, with everything in it', () => {
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

test('scales put values in their places', () => {
  expect(linear([0, 10], [100, 200])(5)).toBe(150);
  expect(logarithmic([1, 100], [0, 1])(10)).toBeCloseTo(0.5, 12);
  expect(roundNumbers(8, 250)).toEqual([10, 20, 50, 100, 200]);
  expect(evenSteps(545)).toEqual([0, 100, 200, 300, 400, 500]);
  expect(evenSteps(1.3)).toEqual([0, 0.5, 1]);
});

test.for([
  [7.412, '7.41 ms'],
  [42.19, '42.2 ms'],
  [317.6, '318 ms'],
  [1346, '1.35 s'],
  [15_090, '15.1 s'],
] as const)('%f milliseconds are %s', ([ms, text]) => {
  expect(precise(ms)).toBe(text);
});

test('a range of one is a number', () => {
  expect([range([1, 1]), range([1, 6])]).toEqual(['1', '1–6']);
});
