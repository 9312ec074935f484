import {
  builtInTraits,
  type CodeTraits,
  type ErrorCode,
  type FailureClass,
  type FailureOutcome,
  isBuiltIn,
  type PolicyDecision,
} from './table.js';

/** The meaning of a code that a pack registers. */
export interface CodeDefinition {
  /** Advice to the agent: the same call may succeed later. */
  readonly retryable: boolean;
  /** One line, for documentation. */
  readonly description: string;
  /** Default: the name of the pack. */
  readonly category?: string;
  /** The code proves that nothing was executed. By default a mutation that sent something is unknown. */
  readonly outcome?: 'not_executed';
  /**
   * Default: `reliability` for a retryable code, else `capability`. After a `governance` failure an
   * operator can fix the cause, so the journal does not replay the failure.
   */
  readonly class?: FailureClass;
}

interface RegisteredCode extends Required<Omit<CodeDefinition, 'outcome'>> {
  readonly pack: string;
  readonly outcome: 'not_executed' | undefined;
}

/** Symbol.for, because a pack and a host may use different copies of this package. */
const KEY = Symbol.for('@toolkeel/contract/error-codes');
const shared = globalThis as { [KEY]?: Map<string, RegisteredCode> };
const registered: Map<string, RegisteredCode> = (shared[KEY] ??= new Map());

const CODE_NAME = /^[a-z][a-z0-9_]{1,63}$/;
const CLASSES: ReadonlySet<unknown> = new Set(['capability', 'reliability', 'governance']);

/**
 * Registers the error codes of a pack and returns them by name, for `toolError` and `errors`. Call it
 * when the module is loaded, before the tools are defined. Throws if a code belongs to the contract, or
 * if another pack has registered it with a different meaning.
 */
export function registerCodes<Code extends string>(
  pack: string,
  definitions: Readonly<Record<Code, CodeDefinition>>,
): { readonly [Name in Code]: Name } {
  const entries = Object.entries<CodeDefinition>(definitions).map(
    ([code, definition]) => [code, completed(pack, code, definition)] as const,
  );
  for (const [code, entry] of entries) registered.set(code, registered.get(code) ?? entry);
  const names = Object.fromEntries(entries.map(([code]) => [code, code]));
  return Object.freeze(names) as { readonly [Name in Code]: Name };
}

function completed(pack: string, code: string, given: CodeDefinition): RegisteredCode {
  const { retryable, description, category = pack, outcome } = given;
  const { class: failureClass = retryable ? 'reliability' : 'capability' } = given;
  const assertCode = (holds: boolean, problem: string): void => {
    if (!holds) throw new TypeError(`error code "${code}" of pack ${pack}: ${problem}`);
  };
  assertCode(CODE_NAME.test(code), 'the name must be 2 to 64 of a-z, 0-9 and _');
  assertCode(!isBuiltIn(code), 'the contract defines this code already: choose another name');
  assertCode(typeof retryable === 'boolean', 'retryable must be true or false');
  assertCode(isLine(description), 'description must be one line');
  assertCode(isLine(category), 'category must be one line');
  assertCode(
    outcome === undefined || outcome === 'not_executed',
    "outcome must be 'not_executed', or absent",
  );
  assertCode(CLASSES.has(failureClass), 'class must be capability, reliability or governance');
  const entry = { retryable, description, category, outcome, class: failureClass, pack };
  const other = registered.get(code);
  assertCode(
    !other || hasSameMeaning(other, entry),
    `pack ${other?.pack} has registered it with a different meaning: rename one of them`,
  );
  return Object.freeze(entry);
}

function isLine(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && !/[\n|]/.test(value);
}

function hasSameMeaning(a: RegisteredCode, b: RegisteredCode): boolean {
  const fields = ['retryable', 'outcome', 'class', 'description'] as const;
  return fields.every((field) => a[field] === b[field]);
}

/** Whether a string can be a code, registered or not. */
export function isCodeName(value: unknown): value is string {
  return typeof value === 'string' && CODE_NAME.test(value);
}

/** Whether the contract defines the code or a pack has registered it. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return isBuiltIn(value) || (typeof value === 'string' && registered.has(value));
}

/** A stored code whose pack is not loaded: nothing is known, so nothing is promised. */
const UNREGISTERED: CodeTraits = { retryable: false, class: 'capability', recoverable: false };

function traitsOf(code: ErrorCode): CodeTraits {
  const builtIn = builtInTraits(code);
  if (builtIn) return builtIn;
  const own = registered.get(code);
  if (!own) return UNREGISTERED;
  const { retryable, class: failureClass, outcome } = own;
  const recoverable = retryable || failureClass === 'governance';
  return { retryable, class: failureClass, recoverable, outcome };
}

/** The only source of `retryable`. */
export function isRetryable(code: ErrorCode): boolean {
  return traitsOf(code).retryable;
}

/** Refused for a temporary reason or one that an operator can fix: the same request may succeed later. */
export function isRecoverable(code: ErrorCode): boolean {
  return traitsOf(code).recoverable;
}

export function classOf(code: ErrorCode): FailureClass {
  return traitsOf(code).class;
}

/** The `policy_decision` that follows from the code. */
export function policyDecisionOf(code: ErrorCode): PolicyDecision | undefined {
  return traitsOf(code).policyDecision;
}

/** The only outcome that a code allows; undefined if it allows all. */
export function onlyOutcomeOf(code: ErrorCode): FailureOutcome | undefined {
  return traitsOf(code).outcome;
}
