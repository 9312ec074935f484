import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processRef, systemLiveness } from '@toolkeel/journal';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { childLink } from '../src/child-link.js';
import { childRegistry, endSurvivors } from '../src/children.js';
import { MARKER } from '../src/process-tree.js';
import type { Message } from '../src/frame.js';
import { createRig, type Rig } from '../src/rig.fixture.js';

const server = fileURLToPath(new URL('support/chaos-server.mjs', import.meta.url));
let dir = '';
let rig: Rig | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'guard-'));
});
afterEach(async () => {
  await rig?.close();
  rig = undefined;
  rmSync(dir, { recursive: true, force: true });
});

const open = (env: Record<string, string> = {}, policy: object = {}): Rig =>
  (rig = createRig({
    config: { command: process.execPath, args: [server], policy },
    env: { TOOLKEEL_DATA_DIR: dir, CHAOS_LOG: join(dir, 'effects'), ...env },
  }));
const effects = (): readonly string[] =>
  existsSync(join(dir, 'effects'))
    ? readFileSync(join(dir, 'effects'), 'utf8').split('\n').filter(Boolean)
    : [];
const textOf = ({ result }: Message): unknown =>
  (result?.['content'] as readonly { text: string }[] | undefined)?.[0]?.text;
const codeOf = ({ result }: Message): unknown =>
  (result?.['structuredContent'] as { error?: { code: string } } | undefined)?.error?.code;

it('answers every call of a server that prints garbage, wrong ids and answers twice', async () => {
  const one = await open().client();
  for (const how of ['garbage', 'wrongId', 'nullId', 'listChange', 'fine']) {
    expect(textOf(await one.call('get', { n: how, how }))).toBe(`get ${how}`);
  }
  expect(textOf(await one.call('get', { how: 'twice' }))).toBe('first');
  expect(textOf(await one.call('get', { n: 'after' }))).toBe('get after');
  const answered = one.received.filter(({ method }) => method === undefined);
  expect(new Set(answered.map(({ id }) => id)).size).toBe(answered.length);
});

it('repeats a read after a crash, and reports the unknown outcome of a mutation', async () => {
  const one = await open().client();
  expect(textOf(await one.call('get', { n: 'r', how: 'crashOnce' }))).toBe('get r');
  expect(codeOf(await one.call('add', { n: 'w', how: 'crash' }))).toBe('outcome_unknown');
  expect(codeOf(await one.call('add', { n: 'w', how: 'crash' }))).toBe('outcome_unknown');
  expect(textOf(await one.call('add', { n: 'x' }))).toBe('add x');
  expect(effects()).toEqual(['r', 'r', 'w', 'x']);
});

it('completes calls that are in flight beside one that crashes the server', async () => {
  const one = await open().client();
  const crashing = one.call('get', { n: 'c', how: 'crashOnce' });
  const others = Array.from({ length: 10 }, (_, n) => one.call('get', { n }));
  expect((await Promise.all(others)).map(textOf)).toEqual(others.map((_, n) => `get ${n}`));
  expect(textOf(await crashing)).toBe('get c');
});

it('refuses an answer that is too large, and continues', async () => {
  const one = await open().client();
  expect(codeOf(await one.call('get', { how: 'huge' }))).toBe('response_too_large');
  expect(codeOf(await one.call('add', { n: 'h', how: 'huge' }))).toBe('response_too_large');
  expect(textOf(await one.call('get', { n: 1 }))).toBe('get 1');
  expect(effects().filter((n) => n === 'h')).toHaveLength(1);
});

it('ends a call of a server that hangs, then starts the server again', async () => {
  const one = await open({}, { idleTimeoutMs: 200, maxRetries: 0 }).client();
  expect(codeOf(await one.call('get', { how: 'hang' }))).toBe('timeout');
  // Its pid is that of the record.
  const pids = () => readdirSync(join(dir, 'guard-children')).map((name) => name.split('-')[0]);
  const [hung] = pids();
  await expect.poll(pids, { timeout: 60_000 }).not.toContain(hung);
  await expect.poll(async () => textOf(await one.call('get', { n: 2 }))).toBe('get 2');
});

it('waits for a server that starts slowly', async () => {
  const one = await open({ CHAOS_SLOW: '700' }).client();
  expect(textOf(await one.call('get', { n: 1 }))).toBe('get 1');
});

it('reports a command that does not exist', async () => {
  rig = createRig({
    config: { command: join(dir, 'no-such-program') },
    env: { TOOLKEEL_DATA_DIR: dir },
  });
  const opened = await rig.client();
  expect(opened.received[0]?.error?.message).toMatch(/could not be started: .*ENOENT/);
});

it('ends a child that ignores the end of its input and SIGTERM', async () => {
  const one = await open({ CHAOS_STUBBORN: '1' }).client();
  await one.call('get');
  const [file = ''] = readdirSync(join(dir, 'guard-children'));
  const pid = Number(file.split('-')[0]);
  await rig?.close();
  expect(systemLiveness.isAlive(processRef(pid))).toBe(false);
  expect(readdirSync(join(dir, 'guard-children'))).toEqual([]);
});

it('ends children that survived a guard that was killed, and no other process', async () => {
  const survivor = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    detached: true,
  });
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true });
  const guard = { ...systemLiveness.self(), pid: 2 ** 30 };
  const folder = join(dir, 'guard-children');
  mkdirSync(folder);
  const record = (name: string, child: object): void =>
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ guard, child }));
  record('survivor', processRef(survivor.pid!));
  // Another process has got the pid of a child that has ended.
  record('reused', { ...processRef(other.pid!), startedAt: '1' });
  writeFileSync(join(folder, 'broken.json'), '{');
  const ended = once(survivor, 'exit');
  expect(endSurvivors(dir, () => {})).toEqual([survivor.pid]);
  await ended;
  expect(other.exitCode).toBeNull();
  const otherEnded = once(other, 'exit');
  other.kill('SIGKILL');
  await otherEnded;
});

it('ended only the process group of a server that had moved to another session', async () => {
  const server = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);
    require('node:fs').writeFileSync('${join(dir, 'pid')}', String(process.pid));`;
  const wrapper = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(server)}],
    { detached: true, stdio: 'inherit' });`;
  const link = childLink({
    name: 'wrapped',
    command: process.execPath,
    args: ['-e', wrapper],
    env: process.env,
    log: () => {},
    scrub: (text) => text,
    register: childRegistry(dir, () => {}),
  })({ onFrame() {}, onFailed() {}, onRetired() {}, onBlocked() {}, onClosed() {} });
  await expect.poll(() => existsSync(join(dir, 'pid'))).toBe(true);
  await expect.poll(() => readFileSync(join(dir, 'pid'), 'utf8')).not.toBe('');
  const pid = Number(readFileSync(join(dir, 'pid'), 'utf8'));
  expect(systemLiveness.isAlive(processRef(pid))).toBe(true);
  const began = processRef(pid);
  await link.close();
  expect(systemLiveness.isAlive(began)).toBe(false);
  expect(readdirSync(join(dir, 'guard-children'))).toEqual([]);
});

it('left survivors in another session alone, and forgot them', async () => {
  const stubborn = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')`;
  const start = (marker: string) =>
    spawn(process.execPath, ['-e', stubborn], {
      detached: true,
      env: { ...process.env, [MARKER]: marker },
    });
  const [survivor, other] = [start('of-this-child'), start('of-another-one')];
  await Promise.all([once(survivor.stdout, 'data'), once(other.stdout, 'data')]);
  const folder = join(dir, 'guard-children');
  mkdirSync(folder);
  const self = systemLiveness.self();
  const [guard, child] = [2 ** 30, 2 ** 30 + 1].map((pid) => ({ ...self, pid }));
  const record = { guard, child, marker: 'of-this-child' };
  writeFileSync(join(folder, 'survivor.json'), JSON.stringify(record));
  const ended = once(survivor, 'exit');
  expect(endSurvivors(dir, () => {})).toEqual([survivor.pid]);
  // It still lives: a guard that is killed now leaves the record to the next one.
  expect(readdirSync(folder)).toEqual(['survivor.json']);
  expect(await ended).toEqual([null, 'SIGKILL']);
  await expect.poll(() => readdirSync(folder)).toEqual([]);
  expect(other.exitCode).toBeNull();
  const otherEnded = once(other, 'exit');
  other.kill('SIGKILL');
  await otherEnded;
});
