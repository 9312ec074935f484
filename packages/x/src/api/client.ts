import type { Clock, Upstream } from '@toolkeel/kernel';
import type { XConfig } from '../config.js';
import type { Prices } from '../cost/prices.js';
import type { RateWindows } from '../limits/windows.js';
import type { SentPosts } from '../posts/sent-posts.js';
import type { SocialReadProvider } from '../provider/provider.js';
import type { Session } from './session.js';
import type { Requests } from './requests.js';
import type { Account } from './account.js';

/** All that the tools of one configured account work with. */
export interface Client {
  readonly config: XConfig;
  readonly session: Session;
  readonly provider: SocialReadProvider;
  readonly requests: Requests;
  readonly account: Account;
  readonly sent: SentPosts;
  readonly windows: RateWindows;
  readonly prices: Prices;
  readonly upstream: Upstream;
  readonly clock: Clock;
  /** How long a call may take. */
  readonly capMs: number;
}
