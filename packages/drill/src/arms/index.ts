import type { Arm } from './arm.js';
import { hedged, ours, withoutBreaker } from './ours.js';
import { rival, rivalModels } from './rivals.js';

export type { Arm } from './arm.js';

export const arms = {
  ours,
  hedged,
  seed: rival(rivalModels.seed),
  pRetry: rival(rivalModels.pRetry),
  undici: rival(rivalModels.undici),
  ky: rival(rivalModels.ky),
  floor: rival(rivalModels.floor),
  withoutBreaker,
} as const satisfies Record<string, Arm>;

export type ArmName = keyof typeof arms;
