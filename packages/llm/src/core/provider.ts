import type { TextCompletion, TextRequest, TextToolCall, TextUsage } from '@toolkeel/contract';
import type { Timeouts } from './clocks.js';
import { ProviderFault } from './errors.js';

/** What an attempt produces while it runs. */
export type ProviderEvent =
  | { readonly type: 'content'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | TextToolCall
  | { readonly type: 'usage'; readonly usage: TextUsage }
  /** The provider began its answer again by itself: what it sent before is void. */
  | { readonly type: 'restarted' };

/** How an adapter reports the progress of one attempt. Reports after the attempt has ended are ignored. */
export interface AttemptIo {
  /** Aborted when the attempt has ended for its caller. The adapter then releases what it holds. */
  readonly signal: AbortSignal;
  /** The attempt leaves the local queue; its clocks start. */
  readonly begin: () => void;
  readonly connected: () => void;
  readonly headers: () => void;
  readonly bytes: (count: number) => void;
  /** The answer is complete: its clocks stop while the adapter reads what still follows it. */
  readonly finished: () => void;
  readonly emit: (event: ProviderEvent) => void;
}

export interface ProviderResult {
  readonly finish: TextCompletion['finish'];
  /** The model that answered. */
  readonly model: string;
  readonly requestId?: string;
}

export type ModelRequest = TextRequest & { readonly model: string };

export interface ProviderHealth {
  readonly state: 'healthy' | 'degraded' | 'down' | 'unknown';
  readonly detail: string;
  readonly advice?: string;
}

export interface ModelInfo {
  readonly id: string;
  readonly description?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** The adapter of one provider. It knows no retries, no clocks and no other provider. */
export interface Provider {
  readonly name: string;
  /** The model of requests that name none. */
  readonly model: string;
  /** Whether a model of this name is this provider's. A chain asks no other about it. */
  readonly serves: (model: string) => boolean;
  readonly timeouts: Timeouts;
  /** Resolves when the response is complete; throws a ProviderFault. */
  readonly run: (request: ModelRequest, io: AttemptIo) => Promise<ProviderResult>;
  /** Spends no tokens. */
  readonly health: (signal: AbortSignal) => Promise<ProviderHealth>;
  readonly models: (signal: AbortSignal) => Promise<readonly ModelInfo[]>;
  readonly close: () => Promise<void>;
}

/** The request asks for what the provider cannot do. Ignoring it silently would be worse. */
export function unsupported(provider: string, what: string): ProviderFault {
  return new ProviderFault('unsupported', `${provider} does not support ${what}`, {
    kind: 'rejected',
    sent: 'no',
  });
}

/** An error that only the operator can fix. The message says how. */
export function notConfigured(message: string, cause?: unknown): ProviderFault {
  return new ProviderFault(
    'not_configured',
    message,
    { kind: 'rejected', sent: 'no', final: true },
    { cause },
  );
}
