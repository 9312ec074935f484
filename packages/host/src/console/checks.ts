import type { Check, Operation } from '@toolkeel/console';
import type { ApprovalPreview, OperationView } from '@toolkeel/journal';
import { faultText } from './call-view.js';
import { iso, processView, upstreamName, type KnownProcess } from './process-view.js';

/** What could stop the execution of an approved operation, checked now. */
export function executionChecks(
  preview: ApprovalPreview,
  processes: readonly KnownProcess[],
  now: number,
): readonly Check[] {
  const { operation } = preview;
  return [
    argumentCheck(preview),
    policyCheck(preview),
    limitCheck(preview, now),
    ...upstreamChecks(operation, processes, now),
    ...scheduleCheck(operation, now),
    expiryCheck(operation, now),
  ];
}

function argumentCheck({ isChecked, refusal, decision, arguments: args }: ApprovalPreview): Check {
  if (!args) {
    const text = 'The arguments cannot be decrypted with the key of this data directory.';
    return { by: 'arguments', result: 'blocks', text };
  }
  if (!isChecked) return notHere('arguments');
  return refusal !== undefined && !decision
    ? { by: 'arguments', result: 'blocks', text: `The tool refuses them: ${refusal}.` }
    : { by: 'arguments', result: 'passes', text: 'The tool accepts the arguments.' };
}

function policyCheck({ isChecked, decision, refusal }: ApprovalPreview): Check {
  if (!isChecked || (!decision && refusal !== undefined)) return notHere('policy');
  if (!decision || decision.kind === 'allow') {
    const rule = decision?.rule === undefined ? '' : ` (${decision.rule})`;
    return { by: 'policy', result: 'passes', text: `The policy allows it${rule}.` };
  }
  const { rule, explanation } = decision;
  return { by: 'policy', result: 'blocks', text: `Rule ${rule} stops it: ${explanation}` };
}

function limitCheck({ isChecked, limitsReached }: ApprovalPreview, now: number): Check {
  if (!isChecked) return notHere('policy_limit');
  const longest = limitsReached.toSorted((a, b) => b.retryAfterMs - a.retryAfterMs)[0];
  if (!longest)
    return { by: 'policy_limit', result: 'passes', text: 'No policy limit is reached.' };
  const { limit, retryAfterMs } = longest;
  return {
    by: 'policy_limit',
    result: 'blocks',
    text: `The policy limit ${limit.name} (${limit.max}) is reached.`,
    until: iso(now + retryAfterMs),
  };
}

/** The packs of live processes that have the tool. */
function packsWith(tool: string, processes: readonly KnownProcess[], now: number) {
  return processes
    .filter(({ state }) => state === 'live')
    .map((process) => processView(process, now, undefined))
    .flatMap((process) =>
      process.packs
        .filter((pack) => pack.tools.some(({ name }) => name === tool))
        .map((pack) => ({ process, pack })),
    );
}

/** The upstreams of each process, named with their pack. */
const upstreamsIn = (live: ReturnType<typeof packsWith>): readonly (readonly Upstream[])[] =>
  live.map(({ pack }) =>
    pack.upstreams.map((upstream) => ({
      ...upstream,
      name: upstreamName(pack.name, upstream.name),
    })),
  );

/** What a read-back reads, as far as it is known. */
export const readFrom = (
  { tool }: OperationView,
  processes: readonly KnownProcess[],
  now: number,
): string => namesOf(upstreamsIn(packsWith(tool, processes, now)).flat()) || 'the upstream';

/** Why a read-back failed, if the processes know how their requests fail. */
export function readFailure(
  { tool, blocked }: Pick<Operation, 'tool' | 'blocked'>,
  processes: readonly KnownProcess[],
  now: number,
): string | undefined {
  if (blocked?.reason !== 'read_back_failed') return undefined;
  const failing = upstreamsIn(packsWith(tool, processes, now))
    .flat()
    .find(isFailing);
  const failure = failing?.last_failure;
  if (!failing || !failure) return undefined;
  const cause = faultText({ kind: failure.fault, ...failure });
  return `the read-back failed. ${failing.name} fails with ${cause}.`;
}

function upstreamChecks(
  { tool }: OperationView,
  processes: readonly KnownProcess[],
  now: number,
): readonly Check[] {
  const live = packsWith(tool, processes, now);
  if (live.length === 0) {
    const text =
      'No live process has the tool. It stays approved until one does, or until it expires.';
    return [{ by: 'process', result: 'blocks', text }];
  }
  const names = live.map(({ process }) => `${process.name} (pid ${process.pid})`).join(', ');
  const upstreams = upstreamsIn(live);
  return [
    {
      by: 'process',
      result: 'passes',
      text: `It is executed by ${live.length === 1 ? names : `one of ${names}`}.`,
    },
    circuitCheck(upstreams, now),
    rateLimitCheck(upstreams),
    budgetCheck(upstreams.flat()),
  ];
}

type Upstream = ReturnType<typeof processView>['packs'][number]['upstreams'][number];

const RISK = 'It may fail, or its outcome may become unknown: wait until the upstream works.';
const UNUSED = 'No request was sent to the upstream yet.';
const namesOf = (upstreams: readonly Upstream[]): string =>
  [...new Set(upstreams.map(({ name }) => name))].join(', ');
const isFailing = ({ health, circuit }: Upstream): boolean =>
  health === 'failing' || circuit.state !== 'closed';

/** Before a read-back: it fails while its upstream does. */
export function readCheck(
  { tool }: OperationView,
  processes: readonly KnownProcess[],
  now: number,
): readonly Check[] {
  const check = circuitCheck(upstreamsIn(packsWith(tool, processes, now)), now);
  if (check.result === 'passes') return [];
  const text = 'It fails now, so this will probably find nothing.';
  return [{ by: 'circuit', result: 'warns', text }];
}

/** Any of the processes may claim an approved operation, so it waits only if it would in each of them. */
function circuitCheck(processes: readonly (readonly Upstream[])[], now: number): Check {
  const upstreams = processes.flat();
  if (upstreams.length === 0) return { by: 'circuit', result: 'passes', text: UNUSED };
  const failing = upstreams.filter(isFailing);
  if (failing.length === 0) {
    const text = `The circuit is closed (${namesOf(upstreams)}).`;
    return { by: 'circuit', result: 'passes', text };
  }
  const name = namesOf(failing);
  const paused = processes.map((those) => those.filter((one) => isPaused(one, now)));
  if (paused.every((those) => those.length > 0)) {
    const until = waitOf(paused, ({ circuit }) => circuit.probe_at);
    return {
      by: 'circuit',
      result: 'blocks',
      text: `Requests to ${name} fail (circuit open).`,
      ...(until !== undefined && { until }),
    };
  }
  const isTest = failing.some(({ circuit }) => circuit.state !== 'closed');
  const sent = isTest
    ? 'and a process may send this at once, as a test'
    : 'and this would be sent at once';
  const text = `Requests to ${name} fail now, ${sent}. ${RISK}`;
  return { by: 'circuit', result: 'warns', text };
}

const isPaused = ({ circuit: { state, probe_at: at } }: Upstream, now: number): boolean =>
  state === 'open' && (at === undefined || Date.parse(at) > now);

/** A process waits for the last of its times, the operation for the first process. */
const waitOf = <T>(
  waits: readonly (readonly T[])[],
  timeOf: (one: T) => string | undefined,
): string | undefined =>
  waits
    .map(
      (those) =>
        those
          .map((one) => timeOf(one) ?? '')
          .toSorted()
          .at(-1) ?? '',
    )
    .filter((time) => time !== '')
    .toSorted()[0];

function rateLimitCheck(processes: readonly (readonly Upstream[])[]): Check {
  const exhausted = processes.map((those) =>
    those.flatMap(({ name, rate_limits: limits }) =>
      limits.filter(({ remaining }) => remaining <= 0).map((limit) => ({ name, limit })),
    ),
  );
  const [first] = exhausted.flat();
  if (!first)
    return { by: 'rate_limit', result: 'passes', text: 'No known rate limit is used up.' };
  const { name, limit } = first;
  const route = limit.route === undefined ? '' : ` for ${limit.route}`;
  const text = `A rate limit of ${name}${route} is used up.`;
  if (exhausted.some((those) => those.length === 0)) {
    const other = `${text} A process that has not seen it may send this at once.`;
    return { by: 'rate_limit', result: 'warns', text: other };
  }
  const until = waitOf(exhausted, (one) => one.limit.resets_at);
  return { by: 'rate_limit', result: 'blocks', text, ...(until !== undefined && { until }) };
}

/** An empty budget stops retries, never the first attempt. */
function budgetCheck(upstreams: readonly Upstream[]): Check {
  const empty = upstreams.find(({ retry_budget: budget }) => budget && budget.tokens < 1);
  const text = empty
    ? `The retry budget of ${empty.name} is empty: a failed request is not retried.`
    : 'The retry budget allows retries.';
  return { by: 'retry_budget', result: 'passes', text };
}

function scheduleCheck({ approval }: OperationView, now: number): readonly Check[] {
  const time = approval?.scheduled_for;
  if (time === undefined) return [];
  return Date.parse(time) > now
    ? [{ by: 'schedule', result: 'blocks', text: 'It waits for its time.', until: time }]
    : [{ by: 'schedule', result: 'passes', text: 'Its time has come.' }];
}

function expiryCheck({ approval }: OperationView, now: number): Check {
  const expires = approval?.expires_at ?? iso(now);
  return Date.parse(expires) > now
    ? { by: 'expiry', result: 'passes', text: 'It has not expired.', until: expires }
    : { by: 'expiry', result: 'blocks', text: 'It has expired.' };
}

function notHere(by: Check['by']): Check {
  const text = 'This process does not have the tool, so this is checked at execution only.';
  return { by, result: 'unknown', text };
}
