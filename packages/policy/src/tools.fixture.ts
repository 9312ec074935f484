import type { PolicyCall, PolicyTool } from './types.js';
import { compilePolicy, type CompileOptions } from './compile.js';
import type { Policy } from './policy.js';
import type { PolicyIssue } from './parse.js';
import type { PolicyConfig } from './config.js';

const text = { type: 'string', maxLength: 25_000 };
const ids = { type: 'array', items: { type: 'string' } };
const strict = (properties: object) => ({
  type: 'object',
  properties,
  additionalProperties: false,
});

export const tools: readonly PolicyTool[] = [
  {
    name: 'x_post_tweet',
    category: 'write',
    effect: 'once',
    destructive: false,
    inputSchema: strict({
      text,
      media_ids: ids,
      reply_settings: { enum: ['everyone', 'following', 'verified'] },
      poll: strict({ options: ids, duration_minutes: { type: 'integer' } }),
    }),
    estimatesCost: true,
  },
  {
    name: 'x_post_thread',
    category: 'write',
    effect: 'once',
    destructive: false,
    inputSchema: strict({
      tweets: { type: 'array', items: text },
      media_ids: { type: 'array', items: ids },
    }),
    estimatesCost: true,
  },
  {
    name: 'x_reply_to_tweet',
    category: 'write',
    effect: 'once',
    destructive: false,
    inputSchema: strict({ text, in_reply_to_id: { type: 'string' }, media_ids: ids }),
    estimatesCost: true,
  },
  {
    name: 'x_like_tweet',
    category: 'engage',
    effect: 'idempotent',
    destructive: false,
    inputSchema: strict({ tweet_id: { type: 'string' } }),
    estimatesCost: false,
  },
  {
    name: 'x_delete_tweet',
    category: 'write',
    effect: 'idempotent',
    inputSchema: strict({ tweet_id: { type: 'string' } }),
    estimatesCost: false,
  },
  {
    name: 'x_search',
    category: 'read',
    effect: 'read',
    inputSchema: strict({ query: { type: 'string' } }),
    estimatesCost: false,
  },
  {
    name: 'refund_payment',
    category: 'payments',
    effect: 'once',
    inputSchema: strict({
      payment_id: { type: 'string' },
      amount: { type: 'number' },
      note: { type: 'string' },
      card_number: { type: 'string' },
    }),
    sensitive: ['card_number'],
    estimatesCost: false,
  },
];

export const mutations = tools.filter(({ effect }) => effect !== 'read');

type Given = Partial<CompileOptions>;

/** Compiles a valid configuration; by default every unrestricted call is allowed. */
export function policyOf(config: PolicyConfig, options: Given = {}): Policy {
  const given = { mode: 'autopilot', template: 'open', ...config } as const;
  const compiled = compilePolicy(given, { tools, profile: 'workflow', ...options });
  if (compiled.ok) return compiled.policy;
  throw new Error(compiled.issues.map(line).join('\n'));
}

/** The issues of a configuration, one line each. */
export function problemsOf(config: unknown, options: Given = {}): string[] {
  const compiled = compilePolicy(config, { tools, profile: 'workflow', ...options });
  return compiled.ok ? [] : compiled.issues.map(line);
}

export const line = ({ path, message }: PolicyIssue): string => `${path.join('/')}: ${message}`;

/** Wednesday, noon in London. */
export const NOON = Date.UTC(2026, 0, 14, 12);

export function callOf(
  tool: string,
  args: object = {},
  more: Partial<PolicyCall> = {},
): PolicyCall {
  return { tool, args: args as PolicyCall['args'], account: 'default', now: NOON, ...more };
}

/** CPU time in milliseconds: independent of other load on the machine. */
export function cpuTime(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
