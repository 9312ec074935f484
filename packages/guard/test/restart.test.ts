import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRig, fakeUpstream, text } from '../src/rig.fixture.js';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'guard-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('a new guard answers a repeat with the result that the first guard could not deliver', async () => {
  const upstream = fakeUpstream();
  const open = () =>
    createRig({
      upstream,
      settings: { journal: { url: 'sqlite:journal.db' } },
      env: { TOOLKEEL_DATA_DIR: dir },
    });
  const first = open();
  const one = await first.client();
  one.send({ id: 5, method: 'tools/call', params: { name: 'add', arguments: { n: 1 } } });
  await expect.poll(() => upstream.calls).toHaveLength(1);
  one.breakConnection();
  upstream.send({ id: 5, result: text('done') });
  await first.close();

  const second = open();
  const two = await second.client();
  expect((await two.call('add', { n: 1 })).result?.['content']).toMatchObject([
    { text: expect.stringMatching(/^Not executed again/) as string },
    { text: 'done' },
  ]);
  expect(upstream.calls).toHaveLength(1);
  const again = two.call('add', { n: 1 });
  await expect.poll(() => upstream.calls).toHaveLength(2);
  upstream.send({ id: upstream.calls.at(1)?.id ?? 0, result: text('again') });
  expect((await again).result?.['content']).toEqual([{ type: 'text', text: 'again' }]);
  await second.close();
});
