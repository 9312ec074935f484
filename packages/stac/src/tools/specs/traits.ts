import { profilesFrom } from '@toolkeel/contract';

/** What all tools of this pack have in common. */
export const readTraits = {
  category: 'read',
  effect: 'read',
  profiles: profilesFrom('readonly'),
} as const;
