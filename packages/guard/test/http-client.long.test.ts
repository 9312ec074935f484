import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { newerNode } from '../../../scripts/lib/newer-node.mjs';
import { cleanUp } from './support/chaos.js';
import { endEverything, everythingUrl } from './support/everything.js';
import { guardProgram } from './support/guarded.js';
import { rawStdio } from './support/raw-client.js';

afterAll(() => {
  endEverything();
  cleanUp();
});

const total = 20_000;
const inFlight = 16;

const rssMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The client of the SDK leaves a listener for each call on Node 20 and 22. */
describe.each(['this Node', 'a newer Node'])('20,000 calls of a server on HTTP, %s', (which) => {
  it('need no more memory than 10,000, and cause no warning', async () => {
    const node = which === 'this Node' ? process.execPath : newerNode();
    const url = await everythingUrl();
    const { command, ...rest } = guardProgram({ upstream: { url } });
    const [, ...args] = command;
    // Without a limit, V8 lets garbage grow with the load, and a leak would not show.
    const limited = ['--max-old-space-size=160', '--max-semi-space-size=8'];
    const guard = await rawStdio({ command: [node, ...limited, ...args], ...rest }, '2025-11-25');
    const samples: number[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < total) {
        const n = next++;
        const { result } = await guard.call('echo', { message: `${n}` });
        if (result?.content?.[0]?.text !== `Echo: ${n}`) throw new Error(JSON.stringify(result));
        if (n % 1000 === 999) samples.push(rssMiB(guard.pid ?? 0));
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    const [early, late] = [samples.slice(5, 10), samples.slice(-5)].map((some) =>
      Math.max(...some),
    );
    console.log(JSON.stringify({ node: which, rssMiB: samples.map(Math.round) }));
    expect(guard.stderr()).not.toContain('MaxListeners');
    expect(late).toBeLessThan((early ?? 0) * 1.25);
    expect(guard.inbox.problems).toEqual([]);
    await guard.close();
  });
});
