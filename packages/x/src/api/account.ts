import type { AccountId } from '@toolkeel/contract';
import { FaultError, Pipeline, singleflight, type Clock } from '@toolkeel/kernel';
import type { ReadContext, SocialReadProvider } from '../provider/provider.js';
import type { Session } from './session.js';

/** The user of X that the configured credential belongs to. */
export interface Account {
  /** X's id of the user. X is asked once for each credential; equal questions share one request. */
  readonly userId: (context: ReadContext) => Promise<string>;
  /** The account that the journal records. Never the configured name: two names may be one user. */
  readonly resolve: (context: ReadContext) => Promise<AccountId>;
  /** Whether an operation that was recorded for `account` is one of this user. */
  readonly isOwn: (account: string, context: ReadContext) => Promise<boolean>;
  /** Changes when the credential becomes another user's, as far as that is known without asking X. */
  readonly current: () => string;
}

interface Question {
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

  const ask = new Pipeline([singleflight<Question>(({ fingerprint }) => fingerprint)], {
    effect: 'read',
    name: 'x_account',
    clock,
  }).wrap(async ({ context: { noteRetry } }: Question, attempt) => {
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
    const asked = { signal, deadline, correlationId };
    const outcome = await ask.outcome({ fingerprint, context }, asked);
    // A read: whatever became of it, nothing that acts has left.
    if (!outcome.ok) throw new FaultError({ ...outcome.fault, sent: 'no' });
    // The login may have been replaced meanwhile: then it is not known whose answer this is.
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
      // An operation of an earlier version has the account that such a version recorded.
      return account === id || formerly.includes(account);
    },
    current: () => session.user?.user() ?? current(),
  };
}
