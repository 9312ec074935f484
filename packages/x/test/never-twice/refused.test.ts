import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultKind } from '@toolkeel/sandbox';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Act } from '../support/acts.js';
import { PATIENCE_MS } from '../support/closing.js';
import { loginTo, useGoverned } from '../support/governed.js';
import {
  always,
  callAll,
  cellsOf,
  done,
  type Naming,
  namings,
  undone,
  useStage,
} from '../support/stage.js';

const stage = useStage();
const { start } = useGoverned();

/** Rejections because of the caller or of rate limits, which release the dedup key. */
const passing: readonly (readonly [FaultKind, string])[] = [
  ['x-402-credits', 'x_credits_depleted'],
  ['x-403-spend-cap', 'x_credits_depleted'],
  ['x-403-reply-not-allowed', 'x_forbidden'],
  ['x-403-not-permitted', 'x_forbidden'],
  ['x-403-not-authorized', 'x_forbidden'],
  ['x-403-client-not-enrolled', 'x_forbidden'],
  ['x-403-user-not-enrolled', 'x_forbidden'],
  ['x-403-official-client', 'x_forbidden'],
  ['x-403-unsupported-authentication', 'x_forbidden'],
  ['x-403-oauth1-permissions', 'x_forbidden'],
  ['x-403-suspended', 'x_account_restricted'],
  ['x-403-locked', 'x_account_restricted'],
  ['x-403-restricted', 'x_account_restricted'],
  ['x-429-usage-cap', 'x_rate_limited'],
];

const limits: readonly FaultKind[] = ['x-429-window', 'x-429-legacy', 'x-429-day'];

/** Media make no difference for a rejection. */
const plain = ({ name }: Act): boolean => !name.includes('media');

const expectWait = async (kind: FaultKind, naming: Naming): Promise<void> => {
  const { x, server, acts: prepare } = await stage();
  const acts = (await prepare('one')).filter(plain);
  const after = x.commits().length;
  x.setFaults(always({ kind, retryAfter: { seconds: 12 } }));
  const first = await callAll(server, acts, naming);
  const sent = x.log().length;
  const early = await callAll(server, acts, naming);
  const said = 'x_rate_limited not_executed';
  expect({ kind, cells: cellsOf(acts, x, after, first, early) }).toEqual({
    kind,
    cells: acts.map((act) => undone(act, [said, said])),
  });
  // A call that X would reject is not sent.
  expect(x.log()).toHaveLength(sent);
  x.setFaults([]);
  const waits = first.map((answer) => (answer.success ? 0 : (answer.error.retry_after_ms ?? 0)));
  expect(Math.min(...waits)).toBeGreaterThan(0);
  await new Promise((resolve) => setTimeout(resolve, Math.max(...waits)));
  const back = await callAll(server, acts, naming);
  expect(cellsOf(acts, x, after, back)).toEqual(acts.map((act) => done(act, naming, ['ok'])));
};

/** Started first, because it mostly waits. */
let limitsHeld: Promise<unknown>;
beforeAll(() => {
  limitsHeld = Promise.all(limits.map((kind, at) => expectWait(kind, namings[at % 2]!)));
  // Its own test reports a failure.
  limitsHeld.catch(() => undefined);
});

const expectDoneLater = async (kind: FaultKind, code: string, naming: Naming): Promise<void> => {
  const { x, server, another, acts: prepare } = await stage();
  const acts = (await prepare('one')).filter(plain);
  const after = x.commits().length;
  x.setFaults(always({ kind }));
  const refused = await callAll(server, acts, naming);
  expect({ kind, cells: cellsOf(acts, x, after, refused) }).toEqual({
    kind,
    cells: acts.map((act) => undone(act, [`${code} not_executed`])),
  });
  x.setFaults([]);
  const back = await callAll(await another(), acts, naming);
  expect(cellsOf(acts, x, after, back)).toEqual(acts.map((act) => done(act, naming, ['ok'])));
};

/** Two at once, because they partly wait; more would block each other. */
const pairs = passing.flatMap((first, at) =>
  at % 2 === 0 ? [[...first, ...passing[at + 1]!] as const] : [],
);

describe('refused', () => {
  // Covers every code with and without a key.
  it.each(pairs)(
    '%s is %s, and %s is %s: nothing was done, and it is done when the cause is gone',
    async (kind, code, otherKind, otherCode) => {
      const both = Promise.all([
        expectDoneLater(kind, code, 'with a key'),
        expectDoneLater(otherKind, otherCode, 'without a key'),
      ]);
      await expect(both).resolves.toHaveLength(2);
    },
    PATIENCE_MS,
  );

  it.each(namings)(
    'x-403-duplicate replays the same rejection, %s',
    async (naming) => {
      const { x, server, another, acts: prepare } = await stage();
      const acts = (await prepare('one')).filter(({ isPost }) => isPost);
      const after = x.commits().length;
      x.setFaults(always({ kind: 'x-403-duplicate' }));
      const first = await callAll(server, acts, naming);
      const sent = x.log({ route: 'create-post' }).length;
      x.setFaults([]);
      const second = await callAll(server, acts, naming);
      const third = await callAll(await another(), acts, naming);
      const said = 'upstream_rejected not_executed';
      expect(cellsOf(acts, x, after, first, second, third)).toEqual(
        acts.map((act) => undone(act, [said, said, said])),
      );
      expect(x.log({ route: 'create-post' })).toHaveLength(sent);
    },
    PATIENCE_MS,
  );
});

describe('a login that X rejects', () => {
  const setUp = async (renewable: boolean) => {
    const { x, folder, acts: prepare } = await stage();
    const { config } = loginTo(x, { mediaDirectories: [folder] });
    const tokenFile = join(folder, 'x.json');
    const write = (token: string, refreshToken?: string) =>
      writeFile(
        tokenFile,
        JSON.stringify({
          version: 1,
          login_id: 'mine',
          client_id: x.credentials.clientId,
          access_token: token,
          ...(refreshToken !== undefined && { refresh_token: refreshToken }),
          obtained_at: 0,
          expires_at: Date.now() + 3_600_000,
          scopes: [],
        }),
        { mode: 0o600 },
      );
    const { accessToken, refreshToken } = x.issueTokens();
    await write('revoked', renewable ? refreshToken : undefined);
    const acts = (await prepare('one')).filter(plain);
    const serve = () => start({ folder, config: { ...config, accessToken: undefined, tokenFile } });
    return { x, acts, serve, relogin: () => write(accessToken), after: x.commits().length };
  };

  it.each(namings)(
    'is renewed once, and everything is executed once, %s',
    async (naming) => {
      const { x, acts, serve, after } = await setUp(true);
      const server = await serve();
      const first = await callAll(server, acts, naming);
      const second = await callAll(server, acts, naming);
      expect(cellsOf(acts, x, after, first, second)).toEqual(
        acts.map((act) => done(act, naming, ['ok', 'ok'])),
      );
      expect(x.commits({ kind: 'token.issued' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );

  it.each(namings)(
    'that cannot be renewed blocks everything until a new login, %s',
    async (naming) => {
      const { x, acts, serve, relogin, after } = await setUp(false);
      const first = await callAll(await serve(), acts, naming);
      const said = 'x_auth_expired not_executed';
      expect(cellsOf(acts, x, after, first)).toEqual(acts.map((act) => undone(act, [said])));
      await relogin();
      const back = await callAll(await serve(), acts, naming);
      expect(cellsOf(acts, x, after, back)).toEqual(acts.map((act) => done(act, naming, ['ok'])));
    },
    PATIENCE_MS,
  );
});

describe('a rate limit', () => {
  it(
    'of either kind has a time to wait, after which the call is executed',
    async () => {
      await expect(limitsHeld).resolves.toHaveLength(limits.length);
    },
    PATIENCE_MS,
  );
});
