import { afterEach, describe, expect, it } from 'vitest';
import { createRig, text, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig;
const open = (options: RigOptions) => (rig = createRig(options)).client();
afterEach(() => rig.close());

const values: readonly unknown[] = [undefined, null, {}, [], true];

describe('notifications without a usable id', () => {
  it.each(['get', 'add'])('of the upstream: progress, during a call of %s', async (tool) => {
    const client = await open({
      onCall: (_call, upstream) => {
        upstream.send({ method: 'notifications/progress' });
        for (const progressToken of values) {
          upstream.send({ method: 'notifications/progress', params: { progressToken } });
        }
        for (const requestId of values) {
          upstream.send({ method: 'notifications/cancelled', params: { requestId } });
        }
        return text('done');
      },
    });
    const more = { _meta: { progressToken: 'p' } };
    expect(await client.call(tool, {}, more)).toMatchObject({ result: text('done') });
  });

  it.each(['get', 'add'])('of the client: cancellations, during a call of %s', async (tool) => {
    const client = await open({
      onCall: ({ args }, upstream) => {
        if (args['last'] !== true) return undefined;
        for (const { id } of upstream.calls) upstream.send({ id, result: text('done') });
        return undefined;
      },
    });
    const first = client.call(tool, { k: 1 });
    await expect.poll(() => rig.upstream.calls.length).toBe(1);
    client.send({ method: 'notifications/cancelled' });
    for (const requestId of values) {
      client.send({ method: 'notifications/cancelled', params: { requestId } });
    }
    const last = client.call(tool, { last: true });
    expect(await first).toMatchObject({ result: text('done') });
    expect(await last).toMatchObject({ result: text('done') });
  });
});
