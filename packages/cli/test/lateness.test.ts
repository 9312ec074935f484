import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { latenessOf, lineWith } from './support/cap.js';

const support = (name: string): string =>
  fileURLToPath(new URL(`support/${name}.mjs`, import.meta.url));

/** Measures a response 300 ms after its cap, with a known cause. */
const measured = async (how: 'computing' | 'waiting' | 'stopped') => {
  const child = spawn(
    process.execPath,
    ['--import', support('cap-probe'), support('late-answer')],
    { env: { CAP_PROBE_MS: '200', HOW: how } },
  );
  try {
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text === 'stopping\n') setTimeout(() => child.kill('SIGCONT'), 300);
    });
    child.stdin.write('"tools/call"\n');
    return latenessOf(await lineWith('cap_probe', () => text));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
};

describe('a late response', () => {
  it.each(['computing', 'waiting'] as const)('is late when the server was %s', async (how) => {
    let found = await measured(how);
    // On a busy machine the measurement may be inconclusive.
    for (let tries = 1; tries < 5 && found.verdict === 'the machine was late'; tries++) {
      found = await measured(how);
    }
    expect(found).toMatchObject({ verdict: 'late' });
  });

  it('is inconclusive if the process was not scheduled', async () => {
    expect(await measured('stopped')).toMatchObject({ verdict: 'the machine was late' });
  });
});

it.each([
  [{ answeredMs: 2100, controlMs: 2000, stolenMs: 0 }, 'in time'],
  [{ answeredMs: 2101, controlMs: 2000, stolenMs: 0 }, 'late'],
  [{ answeredMs: 2101, controlMs: 2000, stolenMs: 50 }, 'the machine was late'],
  [{ answeredMs: 2300, controlMs: 2000, stolenMs: 150 }, 'late'],
  // A delay of both does not excuse a later one.
  [{ answeredMs: 2600, controlMs: 2400, stolenMs: 0 }, 'late'],
])('%j is %s', (probe, verdict) => {
  expect(latenessOf(probe).verdict).toBe(verdict);
});
