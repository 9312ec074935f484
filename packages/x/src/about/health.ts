import { faultToError as defaultReading } from '@toolkeel/contract';
import { FaultError } from '@toolkeel/kernel';
import type { Client } from '../api/client.js';
import { classify, faultToError } from '../faults.js';
import { noCredential } from '../not-configured.js';
import type { ReadContext } from '../provider/provider.js';

/** X answered that recently: there is no need to ask it again, and asking costs. */
const FRESH_MS = 60_000;

/** Whether X can be used right now. Never throws. */
export async function healthOf(client: Client, context: ReadContext, probe: boolean) {
  const { session, clock, windows, upstream } = client;
  const configured = session.app !== undefined || (session.user?.isThere() ?? false);
  const wallNow = clock.wallNow();
  const isFresh = wallNow - (session.lastSuccessAt ?? -Infinity) < FRESH_MS;
  const problem = !configured
    ? readingOf(noCredential())
    : probe && !isFresh
      ? await problemOf(client, context)
      : null;
  const { lastSuccessAt } = session;
  return {
    ok: problem === null && upstream.circuit !== 'open',
    configured,
    problem,
    last_success_at: lastSuccessAt === undefined ? null : new Date(lastSuccessAt).toISOString(),
    circuit: upstream.circuit,
    exhausted_limits: windows.list(wallNow).filter(({ info }) => info.remaining <= 0).length,
  };
}

/** The account of X's own developers: an app token can read somebody, and has no account of its own. */
const SOMEBODY = 'XDevelopers';

async function problemOf(client: Client, context: ReadContext) {
  try {
    const { provider, session } = client;
    await (session.user?.isThere()
      ? provider.getMe(undefined, context)
      : provider.getUserByUsername({ username: SOMEBODY }, context));
    return null;
  } catch (cause) {
    const problem = readingOf(cause);
    // It answered, and it accepted us.
    return problem.code === 'not_found' ? null : problem;
  }
}

function readingOf(cause: unknown): { readonly code: string; readonly message: string } {
  const fault = cause instanceof FaultError ? cause.fault : classify(cause);
  const { code, message } = (faultToError(fault) ?? defaultReading(fault))?.input ?? {
    code: 'internal_error',
    message: 'X could not be asked.',
  };
  return { code, message };
}
