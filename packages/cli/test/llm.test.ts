import { afterEach, expect, it } from 'vitest';
import { useTempDir } from '../src/runtime.fixture.js';
import { endAll, toolkeel } from './support/process.js';

const dir = useTempDir();

afterEach(endAll);

it.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('toolkeel llm that %s ends has the exit code %i', async ([signal, code]) => {
  const args = ['llm', 'Why?', '--sandbox', '--fault', 'llm-stall-mid-stream'];
  const run = toolkeel(args, { cwd: dir() });
  await run.waitForOutput(/You asked/);
  run.kill(signal);
  expect(await run.ended).toEqual({ code, signal: null });
});
