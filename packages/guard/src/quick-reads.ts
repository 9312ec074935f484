import type { AcceptedCall, Admit, Arguments, Tool } from '@toolkeel/contract';
import { isTraced, type CallEngine } from '@toolkeel/host/parts';
import type {
  AttemptContext,
  Outcome,
  ResiliencePolicy,
  ResilientFunction,
} from '@toolkeel/kernel';
import { ANSWERED, failed, isReply, responseTo } from './answers.js';
import { tokenOf, type CallState, type Job, type SentRequest } from './attempts.js';
import type { GuardGovernance } from './governance.js';
import { isObject, objectIn, type Frame, type Id } from './frame.js';
import type { RequestFrame, ResponseFrame } from './frame.js';
import type { GuardedTool } from './tools.js';

/** What a read needs of its session. */
export interface ReadSession {
  readonly enter: (id: Id, call: CallState) => void;
  readonly send: (
    call: CallState,
    attempt: AttemptContext,
    sent: SentRequest,
  ) => Promise<ResponseFrame>;
  readonly answer: (id: Id, call: CallState, frame: Frame) => void;
}

export interface QuickReadsOptions {
  readonly account: string;
  readonly policy: ResiliencePolicy;
  readonly engine: () => CallEngine;
  readonly admitRead: GuardGovernance['admitRead'];
  readonly tool: (name: string) => GuardedTool | undefined;
  /** The read with all its attempts. */
  readonly send: ResilientFunction<Job, ResponseFrame>;
  readonly scrubbed: (frame: Frame) => Frame;
}

type RunningCall = ReturnType<CallEngine['begin']>;

const NO_ARGUMENTS: Arguments = Object.freeze({});
const NO_CONTROLS: AcceptedCall['controls'] = Object.freeze({ allowDuplicate: false });
/** Rules for reads need neither the id of the account nor the check. */
const noAccount: AcceptedCall['accountId'] = () =>
  Promise.reject(new TypeError('a read is not recorded under an account'));
const noCheck: AcceptedCall['check'] = () => Promise.resolve(undefined);
/** The answer of the upstream is passed on whatever its size; an envelope of the guard is small. */
const BYTE_BUDGET = 2 ** 28;
const DEFAULT_TIMEOUT_MS = 300_000;
const ADMITTED: Admit = () => undefined;
const NO_META: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * The common case of a guard, at a fraction of the cost of a run through the engine: a read whose
 * arguments are valid, that the policy allows, and that the upstream answers at the first attempt.
 * Validation, policy, retries, time limits, circuit breaker, metrics and log are the same. A call that
 * needs an envelope is completed by the engine.
 */
export class QuickReads {
  readonly #options: QuickReadsOptions;

  constructor(options: QuickReadsOptions) {
    this.#options = options;
  }

  /** False if the call has to be run by the engine; nothing has happened then. */
  start(request: RequestFrame, session: ReadSession): boolean {
    const { params } = request.message;
    if (!params || isTraced()) return false;
    const { name, arguments: args = NO_ARGUMENTS } = params;
    if (typeof name !== 'string' || !isObject(args)) return false;
    const guarded = this.#options.tool(name);
    if (!guarded || guarded.cacheMs !== undefined || guarded.decision.of(args) !== 'read') {
      return false;
    }
    const tool = guarded.withEffect('read');
    const admit = this.#options.admitRead(tool);
    if (!admit || !isPlain(request.line) || !isAccepted(guarded, args)) return false;
    new QuickRead(this.#options, session, request, guarded, args).start(tool, admit);
    return true;
  }
}

/** Escaped halves of surrogate pairs may be invalid Unicode, which the engine refuses. */
function isPlain(line: string): boolean {
  return !line.includes('\\u') || !/\\u[dD][89a-fA-F]/.test(line);
}

/** Arguments that do not match as they are may do so without nulls, or need an error. */
function isAccepted(guarded: GuardedTool, args: Arguments): boolean {
  try {
    return guarded.accepts(args);
  } catch {
    return false;
  }
}

/** A read in flight: the state that the session needs, and the input of the kernel. */
class QuickRead implements CallState, Job {
  readonly request: RequestFrame;
  readonly operation = undefined;
  readonly isMutation = false;
  readonly progressToken: Id | undefined;
  lastProgress = -Infinity;
  isCancelled = false;
  onDetached: (() => void) | undefined = undefined;
  attempt: CallState['attempt'] = undefined;
  readonly #options: QuickReadsOptions;
  readonly #session: ReadSession;
  readonly #guarded: GuardedTool;
  readonly #args: Arguments;
  readonly #call: RunningCall;

  constructor(
    options: QuickReadsOptions,
    session: ReadSession,
    request: RequestFrame,
    guarded: GuardedTool,
    args: Arguments,
  ) {
    this.#options = options;
    this.#session = session;
    this.#guarded = guarded;
    this.#args = args;
    this.request = request;
    const { params } = request.message;
    const meta = params?.['_meta'] === undefined ? NO_META : objectIn(params, '_meta');
    this.progressToken = tokenOf(meta['progressToken']);
    const context = { mcpReq: { method: 'tools/call', _meta: meta } };
    this.#call = options.engine().begin(guarded.listed.name, this.#timeoutMs, context, true);
  }

  get exchange(): this {
    return this;
  }

  start(tool: Tool, admit: Admit): void {
    const call = this.#call;
    const { id } = this.request.message;
    this.#session.enter(id, this);
    const { account } = this.#options;
    call.account = account;
    const { correlationId } = call;
    const denied = admit({
      tool,
      args: this.#args,
      account,
      correlationId,
      controls: NO_CONTROLS,
      accountId: noAccount,
      check: noCheck,
    });
    if (denied)
      return this.#complete(
        () => ANSWERED,
        undefined,
        () => denied,
      );
    call.onShutdown = () => this.cancel();
    const { deadline } = call;
    // Without a deadline of its own, a call needs no timer of its own.
    const limits = this.#guarded.timeoutMs === undefined ? undefined : deadline;
    void this.#options.send.outcome(this, { correlationId, deadline: limits }).then(this.#end);
  }

  /** One attempt. */
  send(attempt: AttemptContext, sent: SentRequest): Promise<ResponseFrame> {
    return this.#session.send(this, attempt, sent);
  }

  cancel(): void {
    this.isCancelled = true;
    this.attempt?.abandon(false);
  }

  readonly #end = (outcome: Outcome<ResponseFrame>): void => {
    const call = this.#call;
    const { request } = this;
    this.attempt?.abandon(!outcome.ok && outcome.fault.kind === 'timeout');
    if (outcome.ok && call.stats.retries === 0 && outcome.value.message.id === request.message.id) {
      this.#options.engine().end(call, 'ok');
      return this.#answer(outcome.value);
    }
    if (outcome.ok) return this.#complete(() => ANSWERED, outcome.value);
    const { fault } = outcome;
    // The last answer of the upstream, which was a transient error.
    if (isReply(fault.cause)) return this.#complete(() => ANSWERED, fault.cause);
    this.#complete(() => failed(fault, false), undefined);
  };

  /** Ends a call that needs an envelope, or facts of it. */
  #complete(
    handler: Tool['handler'],
    reply: ResponseFrame | undefined,
    admit: Admit = ADMITTED,
  ): void {
    const tool: Tool = { ...this.#guarded.withEffect('read'), handler };
    const callable = {
      spec: tool,
      load: () => tool,
      timeoutMs: this.#timeoutMs,
      byteBudget: BYTE_BUDGET,
      reportsEvents: true,
    };
    const context = { mcpReq: { method: 'tools/call' } };
    const run = this.#options.engine().runBegun(this.#call, callable, this.#args, context, admit);
    void Promise.resolve(run).then((completed) =>
      this.#answer(responseTo(this.request, completed, reply, this.#guarded.isTyped)),
    );
  }

  #answer(frame: Frame): void {
    const { id } = this.request.message;
    this.#session.answer(id, this, this.#options.scrubbed(frame));
  }

  get #timeoutMs(): number {
    return this.#guarded.timeoutMs ?? this.#options.policy.callTimeoutMs ?? DEFAULT_TIMEOUT_MS;
  }
}
