import {
  answer as answerOf,
  contentHash,
  faulted,
  type Arguments,
  type Tool,
  type ToolContext,
  type ToolOperation,
} from '@toolkeel/contract';
import type { HostLog } from '@toolkeel/host';
import type { CallEngine, CompletedRun } from '@toolkeel/host/parts';
import { KEY_IN_META } from '@toolkeel/journal';
import {
  bulkhead,
  FaultError,
  upstream as createUpstream,
  withResilience,
  type AttemptContext,
  type Effect,
  type Fault,
  type Outcome,
  type ResiliencePolicy,
  type ResilientFunction,
  type Upstream,
} from '@toolkeel/kernel';
import { TtlCache } from '@toolkeel/pack-kit/base';
import { failed, recorded, responseTo } from './answers.js';
import type { Exchange } from './attempts.js';
import type { UpstreamConfig } from './config.js';
import type { ListedTool } from './effects.js';
import { transientFault } from './faults.js';
import {
  frameOf,
  isObject,
  objectIn,
  type Frame,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { OCCURRENCE, Repeats, TICKET, type Ticket } from './repeats.js';
import { guardTool, type GuardedTool } from './tools.js';

/** The response to a call. */
export interface Answer {
  readonly frame: Frame;
  /** Has to be called once it is known whether the response reached the client. */
  readonly settled?: (isDelivered: boolean) => void;
}

export interface GuardedCallsOptions {
  readonly name: string;
  /** The account that mutations are recorded under. */
  readonly account: string;
  readonly config: UpstreamConfig;
  readonly policy: ResiliencePolicy;
  readonly engine: () => CallEngine;
  /** Redacts the secrets of the upstream's environment. */
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
  /** All tools are known, or have changed. Resolves when the rules apply to them. */
  readonly onTools: (tools: readonly GuardedTool[]) => Promise<void>;
  /** A live session, for calls without a client. */
  readonly anyExchange: () => Exchange | undefined;
}

/** One call on its way: the kernel's input. */
interface Job {
  readonly exchange: Exchange;
  readonly request: RequestFrame;
  readonly operation: ToolOperation | undefined;
  readonly isMutation: boolean;
}

const ALLOW_DUPLICATE = 'dev.toolkeel/allow-duplicate';
/** Results of the upstream are passed on whatever their size; the link bounds it. */
const BYTE_BUDGET = 2 ** 28;
const MAX_CACHED = 1000;
/** Names that clients call without finding them in a listing. */
const MAX_UNLISTED = 100;
/** Of a read, the engine needs to know only that it was answered. */
const ANSWERED = answerOf({});

/** Runs the calls of an upstream's tools through the engine, the journal and the kernel. */
export class GuardedCalls {
  readonly upstream: Upstream;
  readonly #options: GuardedCallsOptions;
  readonly #tools = new Map<string, GuardedTool>();
  readonly #unlisted = new Set<string>();
  /** Whether the complete listing was seen. Before that no mutation is allowed. */
  #isComplete = false;
  readonly #repeats = new Repeats();
  readonly #cache = new TtlCache<ResponseFrame>(() => performance.now(), 0, MAX_CACHED);
  readonly #send: Readonly<Record<Effect, ResilientFunction<Job, ResponseFrame>>>;

  constructor(options: GuardedCallsOptions) {
    this.#options = options;
    const { name, policy, config } = options;
    this.upstream = createUpstream(name, policy);
    const limit = bulkhead({ limit: config.concurrency, queue: config.queue });
    const create = (effect: Effect) =>
      withResilience(
        async (job: Job, attempt: AttemptContext) => send(job, attempt, effect),
        policy,
        {
          name,
          effect,
          upstream: this.upstream,
          retryUnsent: true,
          layers: [limit],
          listener: (event) => options.engine().observe(event),
          classify: (cause): Fault => ({ kind: 'unexpected', sent: 'maybe', cause }),
        },
      );
    this.#send = { read: create('read'), idempotent: create('idempotent'), once: create('once') };
  }

  get tools(): readonly GuardedTool[] {
    return [...this.#tools.values()];
  }

  get(name: string): GuardedTool | undefined {
    return this.#tools.get(name);
  }

  /** Takes over a page of a listing that a client requested. */
  learn(listed: readonly ListedTool[]): void {
    const changed = listed.filter((tool) => !isSame(this.#tools.get(tool.name)?.listed, tool));
    // The rules can be checked only against all tools; the guard's own listing is on its way.
    if (changed.length === 0 || !this.#isComplete) return;
    for (const tool of changed) this.#tools.set(tool.name, this.#guard(tool));
    void this.#options.onTools(this.tools);
  }

  /** Takes over the complete listing. */
  async replace(listed: readonly ListedTool[]): Promise<void> {
    for (const { name } of listed) this.#unlisted.delete(name);
    const isUnchanged =
      listed.length === this.#tools.size - this.#unlisted.size &&
      listed.every((tool) => isSame(this.#tools.get(tool.name)?.listed, tool));
    if (isUnchanged && listed.length > 0) return;
    this.#tools.clear();
    this.#unlisted.clear();
    for (const tool of listed) this.#tools.set(tool.name, this.#guard(tool));
    this.#isComplete = true;
    await this.#options.onTools(this.tools);
  }

  /** A tool that is not listed may do anything; the server decides whether it exists. */
  async #addUnlisted(name: string): Promise<GuardedTool> {
    const guarded = this.#guard({ name });
    this.#unlisted.add(name);
    this.#tools.set(name, guarded);
    for (const oldest of this.#unlisted) {
      if (this.#unlisted.size <= MAX_UNLISTED) break;
      this.#unlisted.delete(oldest);
      this.#tools.delete(oldest);
    }
    if (this.#isComplete) await this.#options.onTools(this.tools);
    return guarded;
  }

  #guard(listed: ListedTool): GuardedTool {
    const { name, account, config, log } = this.#options;
    return guardTool(listed, {
      account,
      config,
      readAlone: (tool, args, context) => this.#readAlone(tool, args, context),
      runAlone: (tool, args, context) => this.#runAlone(tool, args, context),
      onInvalidSchema: (tool, cause) =>
        log('warn', 'guard_schema_invalid', { upstream: name, tool_name: tool, cause }),
    });
  }

  /** Runs a call. Never rejects. */
  async run(frame: RequestFrame, exchange: Exchange): Promise<Answer> {
    const { message } = frame;
    try {
      await exchange.tools();
      return await this.#run(frame, exchange);
    } catch (cause) {
      this.#options.log('error', 'unexpected', { cause });
      const error = { code: -32_603, message: 'Internal error; see the log of the guard.' };
      return { frame: frameOf({ jsonrpc: '2.0', id: message.id, error }) };
    }
  }

  async #run(frame: RequestFrame, exchange: Exchange): Promise<Answer> {
    const { params = {} } = frame.message;
    const { name, arguments: given = {} } = params;
    if (typeof name !== 'string' || !isObject(given)) {
      const error = { code: -32_602, message: 'Invalid params: name or arguments are malformed' };
      return { frame: frameOf({ jsonrpc: '2.0', id: frame.message.id, error }) };
    }
    const guarded = this.#tools.get(name) ?? (await this.#addUnlisted(name));
    const effect = guarded.decision.of(given);
    const tool = guarded.withEffect(effect);
    const meta = objectIn(params, '_meta');
    const ticket = tool.mutation ? await this.#ticketOf(tool, given, params, exchange) : undefined;
    const isCached = effect === 'read' && guarded.cacheMs !== undefined;
    const cacheKey = isCached ? contentHash({ tool: name, account: '', args: given }) : undefined;
    let reply: ResponseFrame | undefined;
    const handler = async (_args: Arguments, context: ToolContext) => {
      reply = cacheKey === undefined ? undefined : this.#cache.get(cacheKey);
      if (reply) return ANSWERED;
      const { operation } = context;
      const request = withKey(frame, guarded.idempotencyArgument, operation?.id);
      const job: Job = { exchange, request, operation, isMutation: tool.mutation };
      const outcome = await this.#perform(effect, job, context);
      if (!outcome.ok && !isReply(outcome.fault.cause)) return failed(outcome.fault, tool.mutation);
      reply = outcome.ok ? outcome.value : (outcome.fault.cause as ResponseFrame);
      if (tool.mutation) return recorded(reply.message);
      if (cacheKey !== undefined && isSuccess(reply)) {
        this.#cache.set(cacheKey, reply, guarded.cacheMs);
      }
      return ANSWERED;
    };
    const run = await this.#options.engine().run(
      {
        spec: tool,
        load: () => ({ ...tool, handler }),
        timeoutMs: guarded.timeoutMs ?? this.#options.policy.callTimeoutMs ?? 300_000,
        byteBudget: BYTE_BUDGET,
        reportsEvents: true,
      },
      given,
      {
        mcpReq: {
          method: 'tools/call',
          signal: exchange.signal,
          _meta: { ...meta, ...proposedKey(params), [TICKET]: ticket },
        },
      },
    );
    return this.#answer(frame, run, reply, ticket);
  }

  /** Undefined for a call that the caller or the configuration names: the journal compares the names. */
  async #ticketOf(
    tool: Tool,
    args: Arguments,
    params: Readonly<Record<string, unknown>>,
    { lagMs, onDetached }: Exchange,
  ): Promise<Ticket | undefined> {
    const meta = objectIn(params, '_meta');
    if (meta[KEY_IN_META] !== undefined || meta['idempotencyKey'] !== undefined) return undefined;
    if (params['idempotencyKey'] !== undefined || tool.key !== undefined) return undefined;
    const { inputResponses, requestState } = params;
    const isFirstRound = inputResponses === undefined && requestState === undefined;
    const round = isFirstRound ? {} : { inputResponses, requestState };
    const content = contentHash({ tool: tool.name, account: '', args: { ...args, ...round } });
    if (lagMs !== undefined && this.#repeats.isInFlight(content)) {
      await new Promise((resolve) => setTimeout(resolve, lagMs));
    }
    const ticket = this.#repeats.enter(content);
    // At once: an equal call may follow the cancellation directly.
    onDetached(ticket.detached);
    const isIntended = meta[ALLOW_DUPLICATE] === true;
    return isIntended ? { ...ticket, isSeparate: true } : ticket;
  }

  #answer(
    request: RequestFrame,
    run: CompletedRun,
    reply: ResponseFrame | undefined,
    ticket: Ticket | undefined,
  ): Answer {
    const { envelope, deliveryCallbacks = [] } = run;
    const isAnswered = envelope.success || reply !== undefined;
    const settled = (isDelivered: boolean): void => {
      if (isDelivered) for (const callback of deliveryCallbacks) callback();
      if (isDelivered && isAnswered) ticket?.delivered();
      else ticket?.detached();
    };
    const frame = this.scrubbed(responseTo(request, run, reply));
    return ticket || deliveryCallbacks.length > 0 ? { frame, settled } : { frame };
  }

  /** Redacts the secrets of the upstream's environment. */
  scrubbed(frame: Frame): Frame {
    const line = this.#options.scrub(frame.line);
    return line === frame.line ? frame : { line, message: JSON.parse(line) as Message };
  }

  /** Makes the attempts of a call. */
  async #perform(effect: Effect, job: Job, context: ToolContext): Promise<Outcome<ResponseFrame>> {
    const { deadline, correlationId } = context;
    // The context's own signal, which a mutation needs because it outlives its client, is not free.
    const signal = job.isMutation ? context.signal : job.exchange.signal;
    const outcome = await this.#send[effect].outcome(job, { signal, deadline, correlationId });
    job.exchange.finish(!outcome.ok && outcome.fault.kind === 'timeout');
    return outcome;
  }

  /** Calls a read tool, to find out whether a mutation was executed. */
  async #readAlone(
    name: string,
    args: Arguments,
    context: ToolContext,
  ): Promise<Message | undefined> {
    const exchange = this.#options.anyExchange();
    if (!exchange || this.#tools.get(name)?.decision.of(args) !== 'read') return undefined;
    const request = callOf(name, args);
    const job: Job = { exchange, request, operation: undefined, isMutation: false };
    const outcome = await this.#perform('read', job, context);
    return outcome.ok ? outcome.value.message : undefined;
  }

  async #runAlone(name: string, given: Arguments, context: ToolContext): Promise<unknown> {
    const exchange = this.#options.anyExchange();
    if (!exchange) return faulted({ kind: 'connect', sent: 'no' });
    const { [OCCURRENCE]: _occurrence, ...args } = given;
    const guarded = this.#tools.get(name) ?? this.#guard({ name });
    const effect = guarded.decision.of(args);
    const { operation } = context;
    const job: Job = {
      exchange,
      request: withKey(callOf(name, args), guarded.idempotencyArgument, operation?.id),
      operation,
      isMutation: true,
    };
    const outcome = await this.#perform(effect, job, context);
    if (outcome.ok) return recorded(outcome.value.message);
    const { cause } = outcome.fault;
    return isReply(cause) ? recorded(cause.message) : failed(outcome.fault, true);
  }
}

/** A call without a client. The session replaces its id. */
function callOf(name: string, args: Arguments): RequestFrame {
  const params = { name, arguments: args };
  return frameOf({ jsonrpc: '2.0', id: 0, method: 'tools/call', params }) as RequestFrame;
}

/** Sets the idempotency key for the upstream: the operation has one, whatever names it for the caller. */
function withKey(
  frame: RequestFrame,
  argument: string | undefined,
  key: string | undefined,
): RequestFrame {
  if (argument === undefined || key === undefined) return frame;
  const { message } = frame;
  const args = objectIn(message.params, 'arguments');
  if (args[argument] !== undefined) return frame;
  const params = { ...message.params, arguments: { ...args, [argument]: key } };
  return frameOf({ ...message, params }) as RequestFrame;
}

/** One attempt. A transient failure in the answer of a read is a fault, so that the kernel repeats it. */
async function send(
  { exchange, request, operation, isMutation }: Job,
  attempt: AttemptContext,
  effect: Effect,
): Promise<ResponseFrame> {
  const reply = await exchange.send(attempt, {
    request,
    isMutation,
    write: (write) => (operation ? operation.send(write, { signal: attempt.signal }) : write()),
  });
  // An error of a mutation never proves that nothing happened.
  const fault = effect === 'once' ? undefined : transientFault(reply);
  if (fault) throw new FaultError({ ...fault, cause: reply });
  return reply;
}

/** Whether the answer is complete and no error. */
function isSuccess({ message: { result } }: ResponseFrame): boolean {
  const isComplete = result?.['resultType'] === undefined || result['resultType'] === 'complete';
  return result !== undefined && result['isError'] !== true && isComplete;
}

function isReply(cause: unknown): cause is ResponseFrame {
  return isObject(cause) && typeof cause['line'] === 'string' && isObject(cause['message']);
}

function proposedKey(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { idempotencyKey } = params;
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

function isSame(one: ListedTool | undefined, other: ListedTool): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}
