import {
  contentHash,
  faulted,
  type Arguments,
  type Tool,
  type ToolContext,
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
import { ANSWERED, failed, faultOfThrown, isReply, recorded, responseTo } from './answers.js';
import type { Exchange, Job, SentRequest } from './attempts.js';
import type { UpstreamConfig } from './config.js';
import type { ListedTool } from './effects.js';
import { toolFilter } from './diet.js';
import { endsWithin } from './ends-within.js';
import { errorReader, type ErrorReader } from './faults.js';
import type { GuardGovernance } from './governance.js';
import {
  frameOf,
  isObject,
  objectIn,
  type Frame,
  type Message,
  type RequestFrame,
  type ResponseFrame,
} from './frame.js';
import { journaled } from './journaled.js';
import { ambiguousMember, ambiguousRoute } from './json-text.js';
import type { Pins } from './pins.js';
import { presentation, type Present } from './presentation.js';
import { QuickReads, type ReadSession } from './quick-reads.js';
import { Repeats, TICKET, type CallTicket, type Ticket } from './repeats.js';
import type { ToolConfig } from './profiles.js';
import { lateError, refuse, unlistedError } from './refusals.js';
import {
  callOf,
  inexactArgument,
  proposedKey,
  refusalOf,
  ambiguousCall,
  refusedMutation,
  withKey,
} from './requests.js';
import { ToolRegistry } from './tool-registry.js';
import { guardTool, type GuardedTool } from './tools.js';

/** The response to a call. */
export interface Answer {
  readonly frame: Frame;
  /** Has to be called once it is known whether the response reached the client. */
  readonly settled?: (isDelivered: boolean) => void;
  /** Records the delivery, once the client has had the time to say that it did not take the response. */
  readonly confirmed?: () => void;
}

export interface GuardedCallsOptions {
  readonly name: string;
  /** The account that mutations are recorded under. */
  readonly account: string;
  readonly config: UpstreamConfig;
  /** Key templates of the journal's settings. */
  readonly keys?: Readonly<Record<string, string>>;
  /** The settings for one tool. Default: `config`. */
  readonly configFor?: (listed: ListedTool) => ToolConfig;
  readonly policy: ResiliencePolicy;
  readonly engine: () => CallEngine;
  readonly admitRead: GuardGovernance['admitRead'];
  /** Redacts the secrets of the upstream's environment. */
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
  /** All tools are known, or have changed. Resolves when the rules apply to them. */
  readonly onTools: (tools: readonly GuardedTool[]) => Promise<void>;
  /** What the server listed before. Undefined: it is not compared. */
  readonly pins?: Pins | undefined;
  /** A live session, for calls without a client. */
  readonly anyExchange: () => Exchange | undefined;
}

const ALLOW_DUPLICATE = 'dev.toolkeel/allow-duplicate';
/** Results of the upstream are passed on whatever their size; the link bounds it. */
const BYTE_BUDGET = 2 ** 28;
const MAX_CACHED = 1000;

/** Runs the calls of an upstream's tools through the engine, the journal and the kernel. */
export class GuardedCalls {
  readonly upstream: Upstream;
  readonly #options: GuardedCallsOptions;
  readonly #tools: ToolRegistry;
  readonly #repeats = new Repeats();
  readonly #cache = new TtlCache<ResponseFrame>(() => performance.now(), 0, MAX_CACHED);
  /** Undefined: results are passed on as they are. */
  readonly #present: Present | undefined;
  /** Undefined: all tools may be called. */
  readonly #isAllowed: ((name: string) => boolean) | undefined;
  readonly #send: Readonly<Record<Effect, ResilientFunction<Job, ResponseFrame>>>;
  readonly #quickReads: QuickReads;

  constructor(options: GuardedCallsOptions) {
    this.#options = options;
    const { name, policy, config, pins, onTools } = options;
    this.#tools = new ToolRegistry({ guard: (listed) => this.#guard(listed), onTools, pins });
    this.upstream = createUpstream(name, policy);
    const errors = errorReader(config.errors);
    this.#present = presentation(config, errors);
    this.#isAllowed = toolFilter(config);
    const limit = bulkhead({ limit: config.concurrency, queue: config.queue });
    const create = (effect: Effect) =>
      withResilience(
        (job: Job, attempt: AttemptContext) => send(job, attempt, effect, errors),
        policy,
        {
          name,
          effect,
          upstream: this.upstream,
          retryUnsent: true,
          layers: [limit],
          listener: (event) => options.engine().observe(event),
          classify: (cause): Fault => faultOfThrown(cause, true),
        },
      );
    this.#send = { read: create('read'), idempotent: create('idempotent'), once: create('once') };
    this.#quickReads = new QuickReads({
      ...options,
      tool: (tool) => (this.#isAllowed?.(tool) === false ? undefined : this.#tools.get(tool)),
      send: this.#send.read,
      scrubbed: (frame) => this.scrubbed(frame),
    });
  }

  get tools(): readonly GuardedTool[] {
    return this.#tools.tools;
  }

  get(name: string): GuardedTool | undefined {
    return this.#tools.get(name);
  }

  /** Takes over a page of a listing that a client requested. */
  learn(listed: readonly ListedTool[]): void {
    this.#tools.learn(listed);
  }

  /** Takes over the complete listing. */
  replace(listed: readonly ListedTool[]): Promise<void> {
    return this.#tools.replace(listed);
  }

  /** Other settings apply to the tools that are known. */
  refresh(): void {
    this.#tools.refresh();
  }

  #guard(listed: ListedTool): GuardedTool {
    const { name, account, config, keys = {}, log, pins, configFor } = this.#options;
    return guardTool(listed, {
      account,
      keys,
      ...(configFor ? configFor(listed) : { config }),
      pins,
      readAlone: (tool, args, context) => this.#readAlone(tool, args, context),
      runAlone: (tool, args, context) => this.#runAlone(tool, args, context),
      onInvalidSchema: (tool, cause) =>
        log('warn', 'guard_schema_invalid', { upstream: name, tool_name: tool, cause }),
    });
  }

  /** Starts a call of a read that needs nothing but its answer. False: it has to be run. */
  startRead(frame: RequestFrame, session: ReadSession): boolean {
    return !this.#present && !this.#mayAct(frame) && this.#quickReads.start(frame, session);
  }

  /** Whether it is ambiguous which call it is; or it is a read by its arguments only, and these are. */
  #mayAct({ message: { params }, line }: RequestFrame): boolean {
    if (ambiguousRoute(line) !== undefined) return true;
    const name = params?.['name'];
    const guarded = typeof name === 'string' ? this.#tools.get(name) : undefined;
    return guarded?.tool.mutation === true && ambiguousMember(line) !== undefined;
  }

  /** Runs a call. Never rejects. */
  async run(frame: RequestFrame, exchange: Exchange): Promise<Answer> {
    const { message } = frame;
    try {
      const { arrivedAt = performance.now() } = frame;
      const listed = exchange.tools();
      const isInTime =
        !listed || (await endsWithin(listed, arrivedAt + this.limitMs(frame) - performance.now()));
      return await this.#run(frame, exchange, isInTime ? arrivedAt : undefined);
    } catch (cause) {
      this.#options.log('error', 'unexpected', { cause });
      const error = { code: -32_603, message: 'Internal error; see the log of the guard.' };
      return { frame: frameOf({ jsonrpc: '2.0', id: message.id, error }) };
    }
  }

  /** How long a call may take, from its arrival. */
  limitMs({ message: { params } }: RequestFrame): number {
    const name = params?.['name'];
    if (typeof name !== 'string') return this.#timeoutMs;
    const guarded = this.#tools.get(name) ?? this.#guard({ name });
    return guarded.timeoutMs ?? this.#timeoutMs;
  }

  /** `arrivedAt`: undefined if the time of the call passed before the tools were known. */
  async #run(frame: RequestFrame, exchange: Exchange, arrivedAt?: number): Promise<Answer> {
    const { params = {} } = frame.message;
    const { name, arguments: given = {} } = params;
    if (typeof name !== 'string' || !isObject(given)) {
      return { frame: refusalOf(frame, 'Invalid params: name or arguments are malformed') };
    }
    if (this.#isAllowed?.(name) === false) {
      return { frame: refusalOf(frame, `Unknown tool: ${name.slice(0, 100)}`) };
    }
    if (!this.#tools.isComplete || arrivedAt === undefined) {
      const error =
        arrivedAt === undefined ? lateError(this.limitMs(frame)) : unlistedError(exchange.reason());
      const tool = this.#guard({ name }).withEffect('once');
      const engine = this.#options.engine();
      const call = { engine, tool, args: given, request: frame, signal: exchange.signal };
      return { frame: await refuse(call, error) };
    }
    const guarded = this.#tools.get(name) ?? (await this.#tools.addUnlisted(name));
    const effect = guarded.decision.of(given);
    // The effect may depend on an argument, so reads of a tool that also acts are checked as well.
    const refused =
      ambiguousCall(frame) ??
      (guarded.tool.mutation ? refusedMutation(frame, given, effect) : undefined);
    if (refused) {
      const engine = this.#options.engine();
      const call = {
        engine,
        tool: guarded.tool,
        args: given,
        request: frame,
        signal: exchange.signal,
      };
      return { frame: await refuse(call, refused, guarded.isTyped) };
    }
    const tool = guarded.withEffect(effect, given);
    const meta = objectIn(params, '_meta');
    const ticket = tool.mutation ? await this.#ticketOf(tool, given, params, exchange) : undefined;
    const isCached =
      effect === 'read' &&
      guarded.cacheMs !== undefined &&
      inexactArgument(frame.line) === undefined;
    const cacheKey = isCached ? contentHash({ tool: name, account: '', args: given }) : undefined;
    let reply: ResponseFrame | undefined;
    const handler = async (_args: Arguments, context: ToolContext) => {
      reply = cacheKey === undefined ? undefined : this.#cache.get(cacheKey);
      if (reply) return ANSWERED;
      const { operation } = context;
      const request = withKey(frame, guarded.idempotencyArgument, operation?.id);
      const job = { exchange, request, operation, isMutation: tool.mutation };
      const outcome = await this.#perform(effect, job, context);
      if (!outcome.ok && !isReply(outcome.fault.cause)) return failed(outcome.fault, tool.mutation);
      reply = outcome.ok ? outcome.value : (outcome.fault.cause as ResponseFrame);
      if (tool.mutation) return recorded(this.scrubbed(reply));
      if (cacheKey !== undefined && isSuccess(reply)) {
        this.#cache.set(cacheKey, reply, guarded.cacheMs);
      }
      return ANSWERED;
    };
    const run = await this.#options.engine().run(
      {
        spec: tool,
        load: () => ({ ...tool, handler }),
        timeoutMs: Math.max(1, arrivedAt + this.limitMs(frame) - performance.now()),
        byteBudget: BYTE_BUDGET,
        reportsEvents: true,
      },
      given,
      {
        mcpReq: {
          method: 'tools/call',
          signal: exchange.signal,
          _meta: {
            ...meta,
            ...proposedKey(params),
            [TICKET]: { ticket, isIntended: meta[ALLOW_DUPLICATE] === true } satisfies CallTicket,
          },
        },
      },
    );
    const answer = this.#answer({ request: frame, run, reply, ticket, isTyped: guarded.isTyped });
    if (!this.#present) return answer;
    const [{ listed }, { keeper }, { mutation: isMutation }] = [guarded, exchange, tool];
    const call = { request: frame, run, reply, listed, keeper, isMutation };
    return { ...answer, frame: this.#present(answer.frame, call) };
  }

  get #timeoutMs(): number {
    return this.#options.policy.callTimeoutMs ?? 300_000;
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
    const content = contentHash({ tool: tool.name, account: '', args });
    if (lagMs !== undefined && this.#repeats.isInFlight(content)) {
      await new Promise((resolve) => setTimeout(resolve, lagMs));
    }
    const ticket = this.#repeats.enter(content);
    // At once: an equal call may follow the cancellation directly.
    onDetached(ticket.detached);
    return ticket;
  }

  #answer({ request, run, reply, ticket, isTyped }: Answered): Answer {
    const { envelope, deliveryCallbacks = [] } = run;
    const isAnswered = envelope.success || reply !== undefined;
    const settled = (isDelivered: boolean): void => {
      if (isDelivered && isAnswered) ticket?.delivered();
      else ticket?.detached();
    };
    const confirmed = (): void => deliveryCallbacks.forEach((callback) => callback());
    const frame = this.scrubbed(responseTo(request, run, reply, isTyped));
    if (!ticket && deliveryCallbacks.length === 0) return { frame };
    return { frame, settled, confirmed };
  }

  /** Redacts the secrets of the upstream's environment. */
  scrubbed(frame: Frame): Frame {
    const line = this.#options.scrub(frame.line);
    return line === frame.line ? frame : { line, message: JSON.parse(line) as Message };
  }

  /** Makes the attempts of a call. */
  async #perform(
    effect: Effect,
    job: Job & { readonly exchange: Exchange },
    context: ToolContext,
  ): Promise<Outcome<ResponseFrame>> {
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
  ): Promise<Frame | undefined> {
    const exchange = this.#options.anyExchange();
    if (!exchange || this.#tools.get(name)?.decision.of(args) !== 'read') return undefined;
    const request = callOf(name, args);
    const job = { exchange, request, operation: undefined, isMutation: false };
    const outcome = await this.#perform('read', job, context);
    return outcome.ok ? outcome.value : undefined;
  }

  async #runAlone(name: string, args: Arguments, context: ToolContext): Promise<unknown> {
    const exchange = this.#options.anyExchange();
    if (!exchange) return faulted({ kind: 'connect', sent: 'no' });
    const refusal = this.#options.pins?.refusal(name);
    if (refusal) return refusal;
    const guarded = this.#tools.get(name) ?? this.#guard({ name });
    const effect = guarded.decision.of(args);
    const { operation } = context;
    const job = {
      exchange,
      request: withKey(callOf(name, args), guarded.idempotencyArgument, operation?.id),
      operation,
      isMutation: true,
    };
    const outcome = await this.#perform(effect, job, context);
    if (outcome.ok) return recorded(this.scrubbed(outcome.value));
    const { cause } = outcome.fault;
    return isReply(cause) ? recorded(this.scrubbed(cause)) : failed(outcome.fault, true);
  }
}

/** A call that has run. */
interface Answered {
  readonly request: RequestFrame;
  readonly run: CompletedRun;
  readonly reply: ResponseFrame | undefined;
  readonly ticket: Ticket | undefined;
  readonly isTyped: boolean;
}

const writeDirectly: SentRequest['write'] = (write) => write();

/** One attempt. A transient failure in the answer of a read is a fault, so that the kernel repeats it. */
async function send(
  { exchange, request, operation, isMutation }: Job,
  attempt: AttemptContext,
  effect: Effect,
  errors: ErrorReader,
): Promise<ResponseFrame> {
  const reply = await exchange.send(attempt, {
    request,
    isMutation,
    write: operation ? (write) => journaled(operation, write, attempt) : writeDirectly,
  });
  // An error of a mutation never proves that nothing happened.
  const tool = request.message.params?.['name'] as string;
  const fault = effect === 'once' ? undefined : errors.transient(reply, tool);
  if (fault) throw new FaultError({ ...fault, cause: reply });
  return reply;
}

/** Whether the answer is complete and no error. */
function isSuccess({ message: { result } }: ResponseFrame): boolean {
  const isComplete = result?.['resultType'] === undefined || result['resultType'] === 'complete';
  return result !== undefined && result['isError'] !== true && isComplete;
}
