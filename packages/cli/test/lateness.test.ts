import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { latenessOf, lineWith } from './support/cap.js';

const support = (name: string): string =>
  fileURLToPath(new URL(`support/${name}.mjs`, import.meta.url));

/** Has an answer measured that comes 300 ms after its cap, for a reason that we know. */
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

describe('an answer that comes late', () => {
  it.each(['computing', 'waiting'] as const)('is late when the server was %s', async (how) => {
    let found = await measured(how);
    // A busy machine may really have been late as well, and then nothing can be said of the server.
    for (let tries = 1; tries < 5 && found.verdict === 'the machine was late'; tries++) {
      found = await measured(how);
    }
    expect(found).toMatchObject({ verdict: 'late' });
  });

  it('says nothing of a server that the machine did not let run', async () => {
    expect(await measured('stopped')).toMatchObject({ verdict: 'the machine was late' });
  });
});

it.each([
  [{ answeredMs: 2100, controlMs: 2000, stolenMs: 0 }, 'in time'],
  [{ answeredMs: 2101, controlMs: 2000, stolenMs: 0 }, 'late'],
  [{ answeredMs: 2101, controlMs: 2000, stolenMs: 50 }, 'the machine was late'],
  [{ answeredMs: 2300, controlMs: 2000, stolenMs: 150 }, 'late'],
  // What delays both does not excuse what comes after.
  [{ answeredMs: 2600, controlMs: 2400, stolenMs: 0 }, 'late'],
])('%j is %s', (probe, verdict) => {
  expect(latenessOf(probe).verdict).toBe(verdict);
});
