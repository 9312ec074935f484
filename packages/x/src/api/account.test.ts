import { FaultError, type Fault } from '@toolkeel/kernel';
import { VirtualClock } from '@toolkeel/kernel/testing';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, type Credential } from '../auth/credential.js';
import { createAccount } from './account.js';
import type { ReadContext, SocialReadProvider } from './provider.js';
import type { Session } from './session.js';

interface Login {
  readonly id: string;
  readonly user?: string;
  /** The user id, which X returns after a second. */
  readonly belongsTo: string;
}

function rig(first: Login) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const state: { login: Login; fault?: Fault } = { login: first };
  const user = {
    login: () => state.login.id,
    user: () => state.login.user,
    fingerprint: () => fingerprintOf('login', state.login.id),
  } as Credential;
  const getMe: SocialReadProvider['getMe'] = async (_, { signal }) => {
    const { login, fault } = state;
    asked.push(login.id);
    await new Promise<void>((resolve, reject) => {
      clock.setTimer(1_000, resolve);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
    if (fault) throw new FaultError(fault);
    return {
      item: { id: login.belongsTo, username: 'me' },
      partialErrors: [],
      limits: [],
    };
  };
  const session = { user } as Session;
  const account = createAccount('main', session, { getMe }, clock);
  const context = (more: Partial<ReadContext> = {}): ReadContext => ({
    signal: new AbortController().signal,
    deadline: clock.now() + 60_000,
    correlationId: 'c',
    ...more,
  });
  return { account, asked, clock, context, state };
}

describe('the account of a credential', () => {
  it('is the user id, with the names of earlier versions', async () => {
    const { account, clock, context } = rig({ id: 'L1', belongsTo: '7' });
    expect(await clock.run(account.resolve(context()))).toEqual({
      id: 'x:7',
      formerly: ['main', 'main#7', 'main#L1'],
    });
  });

  it('is requested once for concurrent and later callers', async () => {
    const { account, asked, clock, context } = rig({ id: 'L1', belongsTo: '7' });
    const all = Promise.all([1, 2, 3].map(() => account.userId(context())));
    expect(await clock.run(all)).toEqual(['7', '7', '7']);
    expect(await clock.run(account.userId(context()))).toBe('7');
    expect(asked).toEqual(['L1']);
  });

  it('needs no request if the login names its user', async () => {
    const { account, asked, clock, context } = rig({ id: 'L1', user: '7', belongsTo: '7' });
    expect(await clock.run(account.userId(context()))).toBe('7');
    expect(asked).toEqual([]);
  });

  it('is requested again after another login', async () => {
    const { account, asked, clock, context, state } = rig({ id: 'L1', belongsTo: '7' });
    await clock.run(account.userId(context()));
    state.login = { id: 'L2', belongsTo: '8' };
    expect(await clock.run(account.userId(context()))).toBe('8');
    expect(asked).toEqual(['L1', 'L2']);
  });

  it('is not that of a login that was replaced meanwhile', async () => {
    const { account, clock, context, state } = rig({ id: 'L1', belongsTo: '7' });
    const resolved = account.resolve(context());
    clock.setTimer(500, () => {
      state.login = { id: 'L2', belongsTo: '8' };
    });
    expect(await clock.run(resolved)).toMatchObject({ id: 'x:8' });
  });

  it('has a fault with sent "no" if the request fails', async () => {
    const { account, clock, context, state } = rig({ id: 'L1', belongsTo: '7' });
    state.fault = { kind: 'network', sent: 'maybe' };
    const failed = clock.run(account.resolve(context()));
    await expect(failed).rejects.toMatchObject({ fault: { kind: 'network', sent: 'no' } });
    delete state.fault;
    expect(await clock.run(account.userId(context()))).toBe('7');
  });

  it('is awaited until the deadline of each caller, independent of the others', async () => {
    const { account, asked, clock, context } = rig({ id: 'L1', belongsTo: '7' });
    const leaves = new AbortController();
    const end = (work: Promise<unknown>) => work.catch((cause: unknown) => cause);
    const hurried = end(account.userId(context({ deadline: clock.now() + 300 })));
    const gone = end(account.userId(context({ signal: leaves.signal })));
    const stays = account.userId(context());
    clock.setTimer(500, () => leaves.abort(new Error('left')));
    expect(await clock.run(hurried)).toMatchObject({
      fault: { kind: 'timeout', clock: 'deadline', sent: 'no' },
    });
    expect(await clock.run(gone)).toMatchObject({ fault: { kind: 'cancelled', sent: 'no' } });
    expect(await clock.run(stays)).toBe('7');
    expect(asked).toEqual(['L1']);
  });

  it('owns operations recorded for it, also by earlier versions', async () => {
    const { account, clock, context } = rig({ id: 'L1', user: '7', belongsTo: '7' });
    const owns = (recorded: string) => clock.run(account.isOwn(recorded, context()));
    for (const own of ['x:7', 'main', 'main#7', 'main#L1']) expect(await owns(own)).toBe(true);
    for (const other of ['x:8', 'other', 'main#8', '7', '']) expect(await owns(other)).toBe(false);
  });
});

describe('a fingerprint', () => {
  it('reveals nothing and distinguishes tokens from logins', () => {
    expect(fingerprintOf('token', 'secret')).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprintOf('token', 'secret')).not.toBe(fingerprintOf('login', 'secret'));
  });
});
