import type { Session } from './session.js';

/** The way of one client to its upstream, or to several. */
export type Route = Pick<
  Session,
  'receive' | 'toolsListed' | 'pauseUpstream' | 'resumeUpstream' | 'disconnect' | 'detach' | 'close'
>;
