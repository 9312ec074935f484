import { profilesFrom } from '@toolkeel/contract';
import { xCodes } from '../../codes.js';

/** What all tools that read X have in common. */
export const readTraits = {
  category: 'read',
  effect: 'read',
  profiles: profilesFrom('readonly'),
  requires: ['x_client'],
  errors: xCodes,
} as const;

/** From the first design: the same content within half a minute is a retry storm, not a wish. */
const REPEAT_WINDOW_MS = 30_000;

/** A set of likes, follows, … to which something is added: twice is once. */
export const engageTraits = {
  category: 'engage',
  effect: 'idempotent',
  send: 'explicit',
  profiles: profilesFrom('api'),
  requires: ['x_client'],
  destructive: false,
  window: REPEAT_WINDOW_MS,
  errors: xCodes,
} as const;

/** … and from which it is taken away. An inverse can always be repeated. */
export const undoTraits = {
  category: 'engage',
  effect: 'idempotent',
  send: 'explicit',
  profiles: profilesFrom('api'),
  requires: ['x_client'],
  errors: xCodes,
} as const;

/** A post that is there twice if it is sent twice. */
export const postTraits = {
  category: 'write',
  effect: 'once',
  send: 'explicit',
  profiles: profilesFrom('api'),
  requires: ['x_client'],
  destructive: false,
  retryUnsent: true,
  window: REPEAT_WINDOW_MS,
  errors: [...xCodes, 'tweet_too_long', 'invalid_input'],
} as const;

/** About this installation, not about X. */
export const metaTraits = {
  category: 'meta',
  effect: 'read',
  profiles: profilesFrom('readonly'),
  errors: [],
} as const;
