import type { MetaInput } from './meta.js';

export const meta: MetaInput = {
  toolVersion: '1.0',
  elapsedMs: 12,
  retryCount: 0,
  correlationId: 'c-1',
  profile: { name: 'api' },
};

export const workflow: MetaInput = {
  ...meta,
  profile: { name: 'workflow', mode: 'composer', approvalMode: true },
};
