import { expect, it } from 'vitest';
import { nothing } from './storm.js';
import { journalPage } from './command.js';

const control = { ...nothing, acts: 200, duplicates: 175 };
const total = { ...nothing, acts: 1_000_000, effects: 1_000_000, deaths: 12_345 };

it('shows what was done twice with the journal and without, to be looked at', () => {
  const page = journalPage([], total, control);
  expect(page).toContain(`without a journal   87.5  ${'█'.repeat(44)}\nwith it                0\n`);
  expect(page).toContain('| processes killed with SIGKILL | 12,345 | 0 |');
  expect(page).toContain('Nothing was done twice');
  expect(page).toContain('What could be known was known.');
});

it('says how many were told that nobody knows', () => {
  const page = journalPage([], { ...total, unknown: 181 }, control);
  expect(page).toContain('181 of 2,000,000 callers (0.009 %) were told that nobody knows');
  expect(page).not.toContain('Broken');
});

it('has a row for every run', () => {
  const at = '2026-11-16T12:00:00Z';
  const about = { at, seed: 7, store: 'sqlite', node: 'v24', faultRate: 0.2, control } as const;
  const page = journalPage([{ ...about, total: { ...total, unknown: 13 } }], total, control);
  const row = '| 2026-11-16 | sqlite | v24 | 7 | 20 % | 1,000,000 | 12,345 | 0 | 13 | 0.0 |';
  expect(page).toContain(row);
});

it('says what is broken', () => {
  const page = journalPage([], { ...total, duplicates: 1 }, control);
  expect(page).toMatch(/\*\*Broken:\*\* .*1/);
  expect(page).not.toContain('Nothing was done twice');
});
