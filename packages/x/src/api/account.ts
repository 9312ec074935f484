import type { AccountId } from '@toolkeel/contract';
import { FaultError, Pipeline, singleflight, type Clock } from '@toolkeel/kernel';
import type { ReadContext, SocialReadProvider } from './provider.js';
import type { Session } from './session.js';

/** The X user that the configured credential belongs to. */
export interface Account {
  /** The user id, requested once per credential; concurrent requests are coalesced. */
  readonly userId: (context: ReadContext) => Promise<string>;
  /** The account that the journal records: the user id, because two configured names can be one user. */
  readonly resolve: (context: ReadContext) => Promise<AccountId>;
  /** Whether an operation recorded for `account` belongs to this user. */
  readonly isOwn: (account: string, context: ReadContext) => Promise<boolean>;
  /** Changes when the credential becomes another user's, as far as known without a request. */
  readonly current: () => string;
}

interface UserRequest {
  readonly fingerprint: string;
  readonly context: ReadContext;
}

export function createAccount(
  name: string,
  session: Pick<Session, 'user'>,
  provider: Pick<SocialReadProvider, 'getMe'>,
  clock: Clock,
): Account {
  let known: { readonly fingerprint: string; readonly id: string } | undefined;
  const current = (): string => session.user?.fingerprint() ?? '';

  const requestUser = new Pipeline([singleflight<UserRequest>(({ fingerprint }) => fingerprint)], {
    effect: 'read',
    name: 'x_account',
    clock,
  }).wrap(async ({ context: { noteRetry } }: UserRequest, attempt) => {
    const { signal, deadline, correlationId } = attempt;
    const { item } = await provider.getMe(undefined, {
      signal,
      deadline,
      correlationId,
      noteRetry,
    });
    return item.id;
  });

  const userId = async (context: ReadContext): Promise<string> => {
    const named = session.user?.user();
    if (named !== undefined) return named;
    const fingerprint = current();
    if (known?.fingerprint === fingerprint) return known.id;
    const { signal, deadline, correlationId } = context;
    const outcome = await requestUser.outcome(
      { fingerprint, context },
      { signal, deadline, correlationId },
    );
    // A failed read means that no mutation was sent.
    if (!outcome.ok) throw new FaultError({ ...outcome.fault, sent: 'no' });
    // The login was replaced meanwhile, so the response may belong to another user.
    if (current() !== fingerprint) return userId(context);
    known = { fingerprint, id: outcome.value };
    return outcome.value;
  };

  const resolve: Account['resolve'] = async (context) => {
    const id = await userId(context);
    const login = session.user?.login();
    const formerly = [name, `${name}#${id}`];
    if (login !== undefined) formerly.push(`${name}#${login}`);
    return { id: `x:${id}`, formerly };
  };

  return {
    userId,
    resolve,
    isOwn: async (account, context) => {
      const { id, formerly = [] } = await resolve(context);
      // Earlier versions recorded accounts under these names.
      return account === id || formerly.includes(account);
    },
    current: () => session.user?.user() ?? current(),
  };
}
