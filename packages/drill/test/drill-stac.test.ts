import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const script = fileURLToPath(new URL('../dist/drill.js', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'toolkeel-drill-test-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Runs the built command as a process. */
function drill(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}

interface Figures {
  readonly exitCode: number;
  readonly runs: readonly {
    readonly unattributed: number;
    readonly load: number;
    readonly variants: readonly {
      readonly name: string;
      readonly calls: number;
      readonly successes: number;
      readonly requests: number;
      readonly mostAttempts: number;
      readonly incomplete: number;
      readonly mismatches: readonly string[];
      readonly contradictions: readonly string[];
    }[];
    readonly tools: readonly { readonly tool: string; readonly requests: readonly number[] }[];
  }[];
}

test('--quick: calls every tool of a running server under faults and agrees with the upstream’s log', async () => {
  const [json, html, markdown] = ['a.json', 'a.html', 'a.md'].map((name) => join(dir, name));
  const files = ['--json', json!, '--html', html!, '--markdown', markdown!];
  const { code, out, err } = await drill('stac', '--quick', ...files);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('All tools work. Latency was not judged.');

  const { runs } = JSON.parse(readFileSync(json!, 'utf8')) as Figures;
  const [run] = runs;
  expect(run?.unattributed).toBe(0);
  const [baseline, faulted, again] = run!.variants;
  for (const variant of run!.variants) {
    expect(variant).toMatchObject({ calls: 48, mismatches: [], contradictions: [] });
  }
  expect(baseline).toMatchObject({ name: 'baseline', successes: 48, mostAttempts: 1 });
  // The same calls of the same catalogue make the same requests and get the same data.
  expect(again).toMatchObject({ successes: 48, requests: baseline!.requests, incomplete: 0 });
  // One request in five fails: some of about seventy requests certainly do, and are retried.
  expect(faulted!.requests).toBeGreaterThan(baseline!.requests);
  expect(faulted!.mostAttempts).toBeGreaterThan(1);
  expect(faulted!.mostAttempts).toBeLessThanOrEqual(3);
  expect(run!.tools).toHaveLength(12);
  const requestsOf = (name: string) => run!.tools.find(({ tool }) => tool === name)?.requests;
  expect(requestsOf('get_item')).toEqual([1, 1]);
  expect(requestsOf('summarize_search')).toEqual([2, 2]);

  expect(readFileSync(html!, 'utf8')).toContain('<svg ');
  expect(readFileSync(markdown!, 'utf8')).toContain('# Drill: STAC');
}, 180_000);

test('invalid usage exits with code 2 and prints nothing to stdout', async () => {
  const wrong = await drill('stac', '--tools', 'get_rot');
  expect(wrong).toMatchObject({ code: 2, out: '' });
  expect(wrong.err).toContain('not get_rot');
  expect(await drill('everything')).toMatchObject({ code: 2, out: '' });
});
