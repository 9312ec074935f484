import { afterEach, describe, expect, it } from 'vitest';
import type { Frame } from './frame.js';
import { createRig, fakeUpstream, type FakeUpstream, type Rig } from './rig.fixture.js';

let rig: Rig;
afterEach(() => rig.close());

/** An upstream whose links refuse frames while `isEnded()`: its process has ended, its output has not. */
function ending(
  fake: FakeUpstream,
  isEnded: () => boolean,
  onSent?: (frame: Frame) => void,
): FakeUpstream {
  return {
    ...fake,
    connect: (events) => {
      const link = fake.connect(events);
      return {
        ...link,
        send: (frame, isMutation) => {
          if (isEnded()) throw new Error('the upstream is not running');
          link.send(frame, isMutation);
          onSent?.(frame);
        },
      };
    },
  };
}

describe('an upstream that has ended while its output is still read', () => {
  it('may have asked something of a bridge to a server with sessions', async () => {
    let hasEnded = false;
    const fake = fakeUpstream({
      onRequest: ({ id = null, method }, upstream) => {
        if (method !== 'server/discover') return undefined;
        upstream.send({ id, error: { code: -32_601, message: 'Method not found' } });
        return 'silent';
      },
    });
    rig = createRig({ config: { bridge: 'all' }, upstream: ending(fake, () => hasEnded) });
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(await rig.connect().ask('server/discover', { _meta })).toHaveProperty('result');
    hasEnded = true;
    expect(() => fake.send({ id: 's', method: 'ping' })).not.toThrow();
  });

  it('may have asked something of a bridge to a server without sessions', async () => {
    let hasEnded = false;
    const fake = fakeUpstream({
      onRequest: ({ id = null, method, params }, upstream) => {
        if (method === 'server/discover') {
          return { supportedVersions: ['2026-07-28'], capabilities: {}, resultType: 'complete' };
        }
        if (params?.['_meta'] !== undefined) return undefined;
        upstream.send({ id, error: { code: -32_022, message: 'refused' } });
        return 'silent';
      },
    });
    rig = createRig({ upstream: ending(fake, () => hasEnded) });
    await rig.client();
    hasEnded = true;
    expect(() => fake.send({ id: 's', method: 'roots/list' })).not.toThrow();
  });

  it('gets what waits for it after its next start', async () => {
    let hasEnded = false;
    let handshakes = 0;
    const fake = fakeUpstream();
    const endAfterHandshake = ({ message }: Frame): void => {
      if (message.method !== 'notifications/initialized' || ++handshakes !== 2) return;
      hasEnded = true;
      setImmediate(() => {
        hasEnded = false;
        fake.crash();
      });
    };
    rig = createRig({ upstream: ending(fake, () => hasEnded, endAfterHandshake) });
    const client = await rig.client();
    fake.crash();
    expect(await client.ask('prompts/list')).toHaveProperty('result');
    expect(handshakes).toBeGreaterThan(2);
  });
});
