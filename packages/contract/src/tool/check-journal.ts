import { ownMember } from '../own-member.js';
import type { Demand } from './definition-error.js';
import { isList, TOOL_NAME } from './check-traits.js';
import { templateArguments } from './key-template.js';
import type { Inverse, ToolTraits } from './spec.js';

/** Fields that only mean something for a tool that acts. */
const ONLY_MUTATIONS = [
  'window',
  'key',
  'inverse',
  'reconcile',
  'step',
  'accountId',
  'normalize',
] as const;
const SEND_MODES: ReadonlySet<unknown> = new Set([undefined, 'automatic', 'explicit']);

export function checkMutationFields(demand: Demand, definition: ToolTraits): void {
  const { effect, retryUnsent } = definition;
  for (const field of ONLY_MUTATIONS) {
    const isGiven = ownMember(definition, field) !== undefined;
    demand(effect !== 'read' || !isGiven, field, 'means nothing for a read tool');
  }
  demand(
    retryUnsent !== true || effect === 'once',
    'retryUnsent',
    'is for once tools: others are sent again anyway',
  );
  const { send, step } = definition;
  demand(SEND_MODES.has(send), 'send', 'must be automatic or explicit');
  demand(effect !== 'read' || send !== 'explicit', 'send', 'means nothing for a read tool');
  demand(
    step === undefined || send === 'explicit',
    'send',
    "must be 'explicit' for a tool with steps: each of them is sent by itself",
  );
}

export function checkJournalTraits(demand: Demand, traits: ToolTraits): void {
  const { window, key, sensitive = [], input } = traits;
  const isArgument = (name: string): boolean => Object.hasOwn(input.shape, name);
  demand(
    window === undefined || (Number.isSafeInteger(window) && window >= 0),
    'window',
    'must be a whole number of milliseconds, 0 or more',
  );
  demand(isList(sensitive), 'sensitive', 'must be a list');
  const stranger = sensitive.find((name) => !isArgument(name));
  demand(stranger === undefined, 'sensitive', `${String(stranger)} is not an argument`);
  if (key !== undefined) checkKey(demand, key, isArgument, sensitive);
}

export function checkInverse(demand: Demand, traits: ToolTraits, inverse: Inverse): void {
  const undone = typeof inverse.of === 'string' ? [inverse.of] : inverse.of;
  demand(
    isList(undone) &&
      undone.length > 0 &&
      undone.every((name) => TOOL_NAME.test(name) && name !== traits.name),
    'inverse',
    'must name the other tool, the one that is undone',
  );
  demand(
    !(inverse.args && inverse.matches),
    'inverse',
    'finds the act by args or by matches, not by both',
  );
  demand(
    (traits.window ?? 0) === 0,
    'window',
    'an inverse has no content window: it can always be repeated',
  );
}

function checkKey(
  demand: Demand,
  template: string,
  isArgument: (name: string) => boolean,
  sensitive: readonly string[],
): void {
  demand(typeof template === 'string', 'key', 'must be a text');
  const names = templateArguments(template);
  demand(names.length > 0, 'key', 'must name an argument, e.g. reply:{in_reply_to_id}');
  const stranger = names.find((name) => !isArgument(name));
  demand(stranger === undefined, 'key', `${String(stranger)} is not an argument`);
  const secret = names.find((name) => sensitive.includes(name));
  demand(
    secret === undefined,
    'key',
    `${String(secret)} is sensitive, and keys are stored in clear`,
  );
}
