import { describe, expect, it } from 'vitest';
import { faultOf } from '../run/fault-to-error.js';
import { assertSendToken, beforeSend, type SendToken, withSendToken } from './send.js';
import { raise, toolError } from './result.js';

async function thrownBy(read: () => Promise<unknown>): Promise<unknown> {
  return beforeSend(read).then(
    () => undefined,
    (cause: unknown) => cause,
  );
}

describe('a read before the write', () => {
  it('returns the result', async () => {
    expect(await beforeSend(async () => 7)).toBe(7);
  });

  it.each([
    [{ kind: 'network', sent: 'maybe' } as const, 'network'],
    [{ kind: 'server', sent: 'answered', status: 503 } as const, 'server'],
  ])('marks the fault %o as not sent', async (fault, kind) => {
    const failing = async () => {
      throw Object.assign(new Error('x'), { fault });
    };
    expect(faultOf(await thrownBy(failing))).toEqual({ ...fault, kind, sent: 'no' });
  });

  it('marks errors without a fault as not sent', async () => {
    const bug = async () => {
      throw new TypeError('a bug');
    };
    const aborted = async () => {
      throw new DOMException('gone', 'AbortError');
    };
    expect(faultOf(await thrownBy(bug))).toMatchObject({ kind: 'unexpected', sent: 'no' });
    expect(faultOf(await thrownBy(aborted))).toMatchObject({ kind: 'cancelled', sent: 'no' });
  });

  it('propagates tool errors unchanged', async () => {
    const refusal = toolError('not_found', 'There is no such thing.');
    expect(await thrownBy(async () => raise(refusal))).toMatchObject({ toolError: refusal });
  });
});

describe('a send token', () => {
  it('is valid while its write is running', async () => {
    let ended: SendToken | undefined;
    const write = async (token: SendToken) => {
      ended = token;
      assertSendToken(token);
      expect(() => assertSendToken({ ...token })).toThrow('outside operation.send');
      return token.fence;
    };
    expect(await withSendToken(3, write)).toBe(3);
    expect(() => assertSendToken(ended!)).toThrow('outside operation.send');
  });

  it.each([undefined, null, 1, {}, { fence: 1 }])('cannot be made up: %o', (token) => {
    expect(() => assertSendToken(token as SendToken)).toThrow(TypeError);
  });

  it('is revoked when its write fails', async () => {
    let ended: SendToken | undefined;
    const failing = async (token: SendToken) => {
      ended = token;
      throw new Error('x');
    };
    await expect(withSendToken(1, failing)).rejects.toThrow('x');
    expect(() => assertSendToken(ended!)).toThrow('outside operation.send');
  });
});
