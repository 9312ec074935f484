import * as z from 'zod';
import { checked, UsageError } from '../chaos/usage.js';
import type { ExtraControl } from '../sandbox/control.js';
import { scopes } from './auth/scopes.js';
import type { Act, CommitQuery } from './commits.js';
import type { XControls } from './handle.js';

const milliseconds = z.number().min(0);
const clockSchema = z.strictObject({ advanceMs: milliseconds });
const lagSchema = z.strictObject({ lagMs: milliseconds });
const tierSchema = z.strictObject({ tier: z.enum(['self_serve', 'enterprise']) });
const creditsSchema = z.strictObject({ credits: z.number() });
const tokensSchema = z.strictObject({
  userId: z.exactOptional(z.string()),
  scopes: z.exactOptional(z.array(z.enum(scopes))),
  lifetimeMs: z.exactOptional(milliseconds),
});

/** What X offers another process beside what every upstream offers. */
export function xControl(controls: XControls): ExtraControl {
  return {
    state: () => ({
      now: controls.clock.now(),
      lagMs: controls.lag(),
      tier: controls.tier(),
      ...controls.balance(),
      credentials: controls.credentials,
      landmarks: controls.landmarks,
    }),
    reads: {
      '/commits': (query) => ({ commits: controls.commits(commitQuery(query)) }),
    },
    sets: {
      '/clock': (given) =>
        controls.clock.advance(checked(clockSchema, given, 'the clock').advanceMs),
      '/lag': (given) => controls.setLag(checked(lagSchema, given, 'the lag').lagMs),
      '/tier': (given) => controls.setTier(checked(tierSchema, given, 'the tier').tier),
      '/credits': (given) =>
        controls.setCredits(checked(creditsSchema, given, 'the credits').credits),
      '/tokens': (given) => controls.issueTokens(checked(tokensSchema, given, 'the tokens')),
    },
  };
}

function commitQuery({ after, kind, ...rest }: Readonly<Record<string, string>>): CommitQuery {
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) throw new UsageError(`"${stranger}" is neither after nor kind`);
  if (after !== undefined && !/^\d{1,9}$/.test(after))
    throw new UsageError(`after "${after}" is not a number`);
  return {
    ...(after !== undefined && { after: Number(after) }),
    ...(kind !== undefined && { kind: kind as Act['kind'] }),
  };
}
