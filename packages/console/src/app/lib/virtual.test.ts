import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowWindow } from './virtual.js';

const view = { rows: 100_000, rowHeight: 40, scrolled: 0, height: 800 };

test('the first rows are shown at the top, the last ones at the end', () => {
  expect(rowWindow(view)).toEqual({ first: 0, end: 45, before: 0, after: 99_955 * 40 });
  const atEnd = rowWindow({ ...view, scrolled: 100_000 * 40 - 800 });
  expect(atEnd).toMatchObject({ end: 100_000, after: 0 });
});

test('a short list is shown completely', () => {
  expect(rowWindow({ ...view, rows: 3, scrolled: 500 })).toEqual({
    first: 0,
    end: 3,
    before: 0,
    after: 0,
  });
  expect(rowWindow({ ...view, rows: 0 })).toMatchObject({ first: 0, end: 0, after: 0 });
});

test('at most 100 rows are in the document, they cover the screen, and the height never changes', () => {
  fc.assert(
    fc.property(
      fc.nat(200_000),
      fc.integer({ min: 20, max: 90 }),
      fc.integer({ min: -2000, max: 20_000_000 }),
      fc.nat(1600),
      (rows, rowHeight, wanted, height) => {
        const scrolled = Math.min(wanted, Math.max(0, rows * rowHeight - height));
        const { first, end, before, after } = rowWindow({ rows, rowHeight, scrolled, height });
        expect(end - first).toBeLessThanOrEqual(100);
        expect(before + (end - first) * rowHeight + after).toBe(rows * rowHeight);
        if (end - first === 100) return; // a screen that is higher than 100 rows
        const firstVisible = Math.max(0, Math.floor(scrolled / rowHeight));
        const lastVisible = Math.min(rows - 1, Math.floor((scrolled + height) / rowHeight));
        expect(first).toBeLessThanOrEqual(firstVisible);
        if (scrolled + height > 0) expect(end - 1).toBeGreaterThanOrEqual(lastVisible);
      },
    ),
  );
});
