import { expect, it } from 'vitest';
import { zeroTotals } from './kill-test.js';
import { journalPage } from './command.js';

const control = { ...zeroTotals, acts: 200, duplicates: 175 };
const total = { ...zeroTotals, acts: 1_000_000, effects: 1_000_000, deaths: 12_345 };

it('compares duplicates with and without the journal', () => {
  const page = journalPage([], total, control);
  expect(page).toContain(`without a journal   87.5  ${'█'.repeat(44)}\nwith the journal       0\n`);
  expect(page).toContain('| processes killed with SIGKILL | 12,345 | 0 |');
  expect(page).toContain('No operation was executed twice');
  expect(page).toContain('No outcome remained unknown.');
});

it('reports the number of unknown outcomes', () => {
  const page = journalPage([], { ...total, unknown: 181 }, control);
  expect(page).toContain('181 of 2,000,000 callers (0.009 %) got an unknown outcome');
  expect(page).not.toContain('Violated');
});

it('has a row for every run', () => {
  const at = '2026-11-16T12:00:00Z';
  const about = { at, seed: 7, store: 'sqlite', node: 'v24', faultRate: 0.2, control } as const;
  const page = journalPage([{ ...about, total: { ...total, unknown: 13 } }], total, control);
  const row = '| 2026-11-16 | sqlite | v24 | 7 | 20 % | 1,000,000 | 12,345 | 0 | 13 | 0.0 |';
  expect(page).toContain(row);
});

it('reports violated guarantees', () => {
  const page = journalPage([], { ...total, duplicates: 1 }, control);
  expect(page).toMatch(/\*\*Violated:\*\* .*1/);
  expect(page).not.toContain('No operation was executed twice');
});
