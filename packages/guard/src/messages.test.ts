import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';
import { inGuardTerms, isTranslated } from './wording.js';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});
const open = (options: RigOptions) => (rig = createRig(options)).client();
const keyed = (key: string) => ({ _meta: { 'dev.toolkeel/idempotency-key': key } });

describe('messages name only what a guarded server has', () => {
  const unavailable = /get_operation|allow_duplicate|idempotency_key/;

  it('for an unknown outcome, and for its arguments under another key', async () => {
    const client = await open({ onCall: (_call, upstream) => upstream.crash() });
    const lost = await client.call('add', { k: 1 }, keyed('key-0123456789abcdef'));
    const again = await client.call('add', { k: 1 }, keyed('key-0123456789abcdef'));
    const other = await client.call('add', { k: 1 }, keyed('other-0123456789abcdef'));
    for (const answer of [lost, again, other]) {
      expect(answer.result?.['isError']).toBe(true);
      expect(JSON.stringify(answer)).not.toMatch(unavailable);
    }
    expect(JSON.stringify(lost)).toMatch(/toolkeel operations resolve op_/);
  });

  it('for a call that waits for approval', async () => {
    const rules = [{ name: 'ask', when: { tool: 'add' }, action: 'require_approval' }];
    const client = await open({ settings: { rules }, onCall: () => text('done') });
    const answer = await client.call('add', { k: 1 });
    expect(JSON.stringify(answer)).toMatch(/approval_required/);
    expect(JSON.stringify(answer)).toMatch(/toolkeel approvals approve op_/);
    expect(JSON.stringify(answer)).not.toMatch(unavailable);
  });
});

describe('messages of the journal', () => {
  const journal = join(import.meta.dirname, '../../journal/src');
  const messages = ['answer', 'flow'].flatMap((folder) =>
    readdirSync(join(journal, folder))
      .filter((name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name))
      .flatMap((name) => readFileSync(join(journal, folder, name), 'utf8').split('\n'))
      .filter((line) => /\b(get_operation|allow_duplicate|idempotency_key)\b/.test(line))
      // Sentences, not names.
      .filter((line) => /['`].*\. .*['`]/.test(line)),
  );

  it('have a translation for what only packs have, as they are written now', () => {
    expect(messages.length).toBeGreaterThan(5);
    expect(messages.filter((message) => !isTranslated(message))).toEqual([]);
  });

  it('never name it, even if they are worded anew', () => {
    const anew = 'Try get_operation, or allow_duplicate: true with another idempotency_key!';
    expect(isTranslated(anew)).toBe(false);
    expect(inGuardTerms(anew, 'op_1')).toBe(
      'Try a repeat of the call, or the _meta member dev.toolkeel/allow-duplicate: true with another idempotency key!',
    );
  });

  it('are translated in a warning about a replay, too', async () => {
    const config = { tools: { add: { key: 'add:{k}' } } };
    const client = await open({ config, onCall: () => text('done') });
    await client.call('add', { k: 1, note: 'a' });
    const again = JSON.stringify(await client.call('add', { k: 1, note: 'b' }));
    expect(again).toMatch(/NOT performed again/);
    expect(again).not.toMatch(/get_operation|allow_duplicate|idempotency_key/);
  });
});

describe('a replay says why', () => {
  it('for a repeat with the same key', async () => {
    const client = await open({ onCall: () => text('done') });
    await client.call('add', { k: 1 }, keyed('key-0123456789abcdef'));
    const again = await client.call('add', { k: 1 }, keyed('key-0123456789abcdef'));
    expect(JSON.stringify(again)).toMatch(/Not executed again: .* has the same idempotency key\./);
  });

  it('for a repeat with the same key by the settings of the tool', async () => {
    const config = { tools: { add: { key: 'add:{k}' } } };
    const client = await open({ config, onCall: () => text('done') });
    await client.call('add', { k: 1 });
    const again = await client.call('add', { k: 1 });
    expect(JSON.stringify(again)).toMatch(/Not executed again: .* by the settings of this tool\./);
  });
});

describe('a rule on an argument that the schema does not list', () => {
  const tool = (more: object) => ({
    name: 'add',
    inputSchema: { type: 'object', properties: { listed: { type: 'string' } }, ...more },
  });
  const rules = [
    { name: 'no', when: { tool: 'add', 'args.other': { exists: true } }, action: 'deny' },
  ];

  it('applies, with a warning, if the schema is open', async () => {
    const client = await open({
      settings: { rules },
      tools: [tool({})],
      onCall: () => text('done'),
    });
    expect(JSON.stringify(await client.call('add', { other: 1 }))).toMatch(/denied/);
    expect(JSON.stringify(await client.call('add', { listed: 'a' }))).toMatch(/done/);
    expect(rig!.logs().map(({ event }) => event)).toContain('guard_rule_argument_unlisted');
  });

  it('is an error if the schema is closed, which lists its arguments', async () => {
    const closed = [tool({ additionalProperties: false })];
    const client = await open({ settings: { rules }, tools: closed });
    void client.call('add', { listed: 'a' });
    const failure = await rig!.guard.failed.catch((cause: unknown) => String(cause));
    expect(failure).toMatch(/args\.listed/);
    expect(failure).not.toMatch(/idempotency_key|allow_duplicate/);
  });
});
