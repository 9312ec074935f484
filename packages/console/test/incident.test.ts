import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { inRoot } from '../../../scripts/lib/paths.mjs';

// The whole incident is prepared before the link is printed.
test(
  'the servers of an incident remained when npm alone was terminated',
  { timeout: 180_000 },
  async () => {
    const { PATH = '', HOME = '' } = process.env;
    // As npm does it; the shell does not forward signals.
    const npm = spawn('sh', ['-c', 'node scripts/console-incident.mjs; true'], {
      cwd: inRoot('.'),
      env: { PATH, HOME, npm_lifecycle_event: 'console:incident' },
    });
    let output = '';
    npm.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await expect
      .poll(() => output, { timeout: 150_000 })
      .toMatch(/Open http:\S+\s+Press Ctrl-C to stop\./);
    const [url = ''] = /http:\/\/[\d.:]+/.exec(output) ?? [];
    const isUp = async (): Promise<boolean> =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
    expect(await isUp()).toBe(true);
    npm.kill('SIGTERM');
    await expect.poll(isUp).toBe(false);
  },
);
