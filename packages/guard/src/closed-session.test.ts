import { afterEach, describe, expect, it } from 'vitest';
import { createRig, type Rig } from './rig.fixture.js';

let rig: Rig;
afterEach(() => rig.close());

describe('a session that is closed while a mutation is in flight', () => {
  it('leaves an operation with an unknown outcome that other sessions need not wait for', async () => {
    rig = createRig();
    const first = await rig.client();
    void first.call('add', { k: 1 });
    await expect.poll(() => rig.upstream.calls.length).toBe(1);
    await first.session.close();
    const second = await rig.client();
    expect(JSON.stringify(await second.call('add', { k: 1 }))).toMatch(/outcome_unknown/);
    expect(rig.upstream.calls).toHaveLength(1);
  });
});
