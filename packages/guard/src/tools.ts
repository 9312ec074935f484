import {
  renderKey,
  specifyTool,
  toolError,
  type Arguments,
  type Tool,
  type ToolContext,
  type ToolSpec,
} from '@toolkeel/contract';
import type { Effect } from '@toolkeel/kernel';
import * as z from 'zod';
import { compileSchema, type CheckArguments } from './arguments.js';
import type { UpstreamConfig } from './config.js';
import { reconcileBy, type ReadAlone } from './reconcile.js';
import { resultBudget } from './diet.js';
import { isEnvelopeSchema } from './envelope.js';
import {
  decideEffect,
  rulesFor,
  strictest,
  tightened,
  type EffectDecision,
  type ListedTool,
} from './effects.js';
import type { Pins } from './pins.js';

/** Runs a call without a client: an operation that an operator has approved. */
type RunAlone = (name: string, args: Arguments, context: ToolContext) => Promise<unknown>;

interface GuardedToolOptions {
  /** The account that mutations are recorded under. */
  readonly account: string;
  readonly config: UpstreamConfig;
  /** Key templates of the journal's settings, for tools without one of their own. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Of the profile that these settings come from. */
  readonly evidence?: string;
  /** The same for the profile that applied when the tools were pinned, if it was another one. */
  readonly before?: { readonly config: UpstreamConfig; readonly evidence?: string };
  readonly runAlone: RunAlone;
  readonly readAlone: ReadAlone;
  readonly onInvalidSchema: (tool: string, cause: unknown) => void;
  /** What the server listed before. Undefined: it is not compared. */
  readonly pins?: Pins | undefined;
}

/** A tool of the upstream, as the guard sees it. */
export interface GuardedTool {
  readonly listed: ListedTool;
  readonly decision: EffectDecision;
  /** With the most far-reaching effect that its calls can have: for the policy and the journal. */
  readonly tool: Tool;
  /** For a call with this effect; with these arguments if they are known. */
  readonly withEffect: (effect: Effect, args?: Arguments) => Tool;
  /** Whether the arguments match the server's schema as they are. */
  readonly accepts: (args: Arguments) => boolean;
  /** Whether the client checks structured content against a schema of the server: no envelope fits. */
  readonly isTyped: boolean;
  readonly timeoutMs: number | undefined;
  /** How long the result of a read answers equal calls. */
  readonly cacheMs: number | undefined;
  /** The argument in which the server accepts an idempotency key. */
  readonly idempotencyArgument: string | undefined;
}

const describe = (effect: Effect, isNamed = false): ToolSpec => ({
  ...specifyTool({
    name: 'guarded_tool',
    description: 'A tool of a guarded server.',
    effect,
    input: z.object({}),
    ...(effect !== 'read' && { send: 'explicit' as const }),
    // Equal content is told apart by the connection. A named act is the same as long as it is retained.
    ...(effect !== 'read' && !isNamed && { window: 0 }),
    ...(effect === 'once' && { retryUnsent: true }),
  }),
  // The server's own schema is checked instead.
  input: z.looseObject({}),
});

const BASE: Readonly<Record<Effect, ToolSpec>> = Object.freeze({
  read: describe('read'),
  idempotent: describe('idempotent'),
  once: describe('once'),
});

/** For tools whose acts are named by a key template. */
const NAMED: typeof BASE = Object.freeze({
  read: BASE.read,
  idempotent: describe('idempotent', true),
  once: describe('once', true),
});

const ANY: Readonly<Record<string, unknown>> = Object.freeze({ type: 'object' });

export const EFFECTS = ['read', 'idempotent', 'once'] as const satisfies readonly Effect[];

/** A tool of which only the name is known. */
export function unlistedSpec(name: string, effect: Effect): ToolSpec {
  return { ...BASE[effect], name, title: name, category: 'guard', inputSchema: ANY };
}

export function guardTool(listed: ListedTool, options: GuardedToolOptions): GuardedTool {
  const { config, account, runAlone, readAlone, onInvalidSchema, pins } = options;
  const { name, description = '', inputSchema, annotations = {} } = listed;
  const pinned = pins?.pinned(name);
  const blocking = pins?.blocks ? pins : undefined;
  const now = decideEffect(listed, config, options.evidence);
  const listedBefore = pinned
    ? tightened(now, decideEffect(pinned, config, options.evidence))
    : now;
  const { before } = options;
  const decision = before
    ? tightened(listedBefore, decideEffect(pinned ?? listed, before.config, before.evidence))
    : listedBefore;
  const rules = rulesFor(name, config.tools);
  const { keys = {} } = options;
  const ownKey = rules?.key ?? (Object.hasOwn(keys, name) ? keys[name] : undefined);
  let compiled: CheckArguments | undefined;
  const issuesOf: CheckArguments = (args) => {
    compiled ??= compileSchema(inputSchema, (cause) => onInvalidSchema(name, cause));
    return compiled(args);
  };
  const check = (args: Arguments) => {
    const refusal = blocking?.refusal(name);
    if (refusal) return refusal;
    const issues = issuesOf(args);
    if (issues.length === 0) return undefined;
    const list = issues.map(({ field, message }) => `${field}: ${message}`).join('; ');
    return toolError('validation_error', `Invalid arguments. ${list}`, {
      details: { issues: [...issues] },
    });
  };
  const create = (effect: Effect, key: string | undefined): Tool =>
    Object.freeze({
      ...(key === undefined ? BASE : NAMED)[effect],
      name,
      title: name,
      description,
      category: 'guard',
      inputSchema: inputSchema ?? ANY,
      destructive: effect !== 'read' && annotations['destructiveHint'] !== false,
      openWorld: annotations['openWorldHint'] !== false,
      account,
      ...(key !== undefined && { key }),
      ...(rules?.reconcile &&
        effect === 'once' && {
          reconcile: reconcileBy(rules.reconcile, readAlone, {
            name,
            idempotencyArgument: rules.idempotencyArgument,
          }),
        }),
      check,
      handler: (args: Arguments, context: ToolContext) => runAlone(name, args, context),
    });
  const [named, unnamed] = [new Map<Effect, Tool>(), new Map<Effect, Tool>()];
  const withEffect = (effect: Effect, args?: Arguments): Tool => {
    const template = effect === 'read' ? undefined : ownKey;
    // An act that the template cannot name is told apart like those of other tools.
    const isNamed = template !== undefined && (!args || renderKey(template, args) !== undefined);
    const tools = isNamed ? named : unnamed;
    const tool = tools.get(effect) ?? create(effect, isNamed ? template : undefined);
    tools.set(effect, tool);
    return tool;
  };
  const effects = [decision.effect, ...(rules?.when ?? []).map((one) => one.effect)];
  return {
    listed,
    decision,
    tool: withEffect(strictest(effects)),
    withEffect,
    accepts: (args) => !blocking?.refusal(name) && issuesOf(args).length === 0,
    isTyped: isTyped(listed, config),
    timeoutMs: rules?.timeoutSecs === undefined ? undefined : rules.timeoutSecs * 1000,
    cacheMs: rules?.cacheSecs === undefined ? undefined : rules.cacheSecs * 1000,
    idempotencyArgument: rules?.idempotencyArgument,
  };
}

/** Whether the listing keeps the output schema of the server, and no envelope fits it. */
function isTyped({ name, outputSchema }: ListedTool, config: UpstreamConfig): boolean {
  if (!outputSchema || config.envelope || isEnvelopeSchema(outputSchema)) return false;
  return resultBudget(name, config) === undefined;
}
