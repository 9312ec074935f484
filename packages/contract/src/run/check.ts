import { onlyOutcomeOf } from '../codes/consistency.js';
import type { CheckContext } from '../tool/context.js';
import { isAnswer, isFaulted, isToolError } from '../tool/result.js';
import type { AccountId, Arguments } from '../tool/spec.js';
import type { Tool } from '../tool/tool.js';
import type { Call } from './call.js';
import { asDeclared, internalError } from './failure.js';
import { fromReturned, fromThrown, isThenable } from './handle.js';
import type { Settled, SettledFailure } from './options.js';
import { ContractViolation } from './violation.js';

type Checked = Settled | undefined;

/** The check of a tool, for one call. */
export interface Check {
  /** Runs it the first time, without a promise where it makes none. Never rejects. */
  readonly ask: () => Checked | Promise<Checked>;
  readonly wasAsked: () => boolean;
}

export function checkOf(
  tool: Tool,
  args: Arguments,
  context: () => CheckContext,
  call: Call,
): Check {
  let asked: { readonly said: Checked | Promise<Checked> } | undefined;
  return {
    ask: () => (asked ??= { said: runCheck(tool, args, context, call) }).said,
    wasAsked: () => asked !== undefined,
  };
}

function runCheck(
  tool: Tool,
  args: Arguments,
  context: () => CheckContext,
  call: Call,
): Checked | Promise<Checked> {
  if (!tool.check) return undefined;
  const settle = (read: () => Checked): Checked => {
    try {
      const settled = read();
      return settled?.ok === false ? refusal(tool, settled, call) : settled;
    } catch (cause) {
      call.report(cause);
      return refusal(tool, internalError(), call);
    }
  };
  const said = (returned: unknown) => settle(() => fromSaid(tool, returned, call));
  const thrown = (cause: unknown) => settle(() => fromThrown(tool, cause, call));
  try {
    const returned = tool.check(args, context());
    if (isThenable(returned)) return Promise.resolve(returned).then(said, thrown);
    return said(returned);
  } catch (cause) {
    return thrown(cause);
  }
}

function fromSaid(tool: Tool, returned: unknown, call: Call): Checked {
  if (returned === undefined) return undefined;
  const isSound = isToolError(returned) || isFaulted(returned) || isAnswer(returned);
  if (isSound) return fromReturned(tool, returned, call);
  // Bare data would be an answer by mistake: a check that says `true` means that all is well.
  call.report(new ContractViolation(tool.name, 'has a check that says neither yes nor no'));
  return internalError();
}

/** Resolves the account that a call acts for. Never rejects; whatever fails, nothing was sent. */
export async function resolveAccount(
  tool: Tool,
  args: Arguments,
  context: CheckContext & { readonly account: string },
  call: Call,
): Promise<AccountId | SettledFailure> {
  if (!tool.accountId) return { id: context.account };
  try {
    const { id, formerly } = await tool.accountId(args, context);
    if (typeof id === 'string' && id !== '') return formerly ? { id, formerly } : { id };
    call.report(new ContractViolation(tool.name, 'resolved its account to an empty id'));
    return refusal(tool, internalError(), call);
  } catch (cause) {
    try {
      const failure = fromThrown(tool, cause, call);
      return refusal(tool, failure.ok ? internalError() : failure, call);
    } catch (broken) {
      call.report(broken);
      return refusal(tool, internalError(), call);
    }
  }
}

/** Whatever a check says or how it breaks: nothing was sent. */
function refusal(tool: Tool, failure: SettledFailure, call: Call): SettledFailure {
  const outcome = 'not_executed';
  const { error } = failure;
  if ((onlyOutcomeOf(error.code) ?? outcome) !== outcome) {
    call.report(new ContractViolation(tool.name, `has a check that answers with ${error.code}`));
    return asDeclared(tool, internalError(outcome), call.report);
  }
  return asDeclared(tool, { ...failure, error: { ...error, outcome } }, call.report);
}
