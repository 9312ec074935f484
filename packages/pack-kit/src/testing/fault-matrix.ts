import assert from 'node:assert/strict';
import {
  buildManifest,
  envelopeSchema,
  isRetryable,
  outcomeOfFault,
  type ErrorCode,
  type ToolSpec,
} from '@toolkeel/contract';
import type { FaultKind, Sent } from '@toolkeel/kernel';
import { memberOf, objectOf, stringOf } from '../json.js';
import type { PackRig } from './pack-rig.js';
import { recordingJournal } from './recording-journal.js';
import {
  startScriptedUpstream,
  type ReceivedRequest,
  type Reply,
  type ScriptedUpstream,
} from './scripted-upstream.js';

/** How an upstream fails. Without a reply, it refuses the connection. */
export interface UpstreamFault {
  readonly name: string;
  readonly kind: FaultKind;
  readonly sent: Sent;
  readonly reply?: Reply;
}

const fault = (kind: FaultKind, sent: Sent, name: string, reply?: Reply): UpstreamFault => ({
  name,
  kind,
  sent,
  ...(reply && { reply }),
});
const status = (kind: FaultKind, code: number, headers: Record<string, string> = {}) =>
  fault(kind, 'answered', String(code), { status: code, json: {}, headers });

/** Every kind of fault that an upstream can cause. */
export const upstreamFaults: readonly UpstreamFault[] = [
  fault('connect', 'no', 'connection refused'),
  fault('network', 'maybe', 'reset', { act: 'reset' }),
  fault('network', 'maybe', 'half a body', { act: 'half', json: { half: 'of this is missing' } }),
  fault('timeout', 'maybe', 'no answer', { act: 'stall' }),
  fault('bad_response', 'answered', 'not JSON', { text: '<html>' }),
  status('server', 500),
  status('server', 503),
  status('rate_limited', 429, { 'retry-after': '99' }),
  status('auth', 401),
  status('rejected', 400),
  status('rejected', 403),
  status('rejected', 404),
];

/** What a tool answered under a fault. */
export interface FaultCell {
  readonly tool: string;
  readonly fault: string;
  readonly code: string;
  readonly retryable: boolean;
  readonly outcome: string | undefined;
  /** How often the upstream received the same request. */
  readonly attempts: number;
}

export interface FaultMatrixOptions {
  readonly specs: readonly ToolSpec[];
  /** Arguments with which each tool sends a request. */
  readonly argumentsOf: (tool: string) => object | undefined;
  /** A running pack for the upstream. Short timeouts suit faults of kind `timeout` only. */
  readonly start: (upstream: ScriptedUpstream, fault: UpstreamFault) => Promise<PackRig>;
  /** The code of a fault for a tool. Default: `baseCodeOf`, for a pack without a mapping of its own. */
  readonly codeOf?: (fault: UpstreamFault, spec: ToolSpec) => string;
  /** The outcome of a mutation. Default: `outcomeOfFault`, for a tool that sends one write. */
  readonly outcomeOf?: (fault: UpstreamFault, spec: ToolSpec) => string | undefined;
  readonly maxRetries: number;
  /** Answers requests that do not fail, such as the reads before a write. Default: all fail. */
  readonly healthy?: (request: ReceivedRequest) => Reply | undefined;
  readonly faults?: readonly UpstreamFault[];
}

const CODES: Readonly<Partial<Record<FaultKind, string>>> = {
  timeout: 'timeout',
  rate_limited: 'rate_limited',
  auth: 'unauthorized',
  rejected: 'upstream_rejected',
};
const REFUSALS: readonly FaultKind[] = ['rate_limited', 'auth', 'rejected'];
const STATUS_CODES: Readonly<Record<string, string>> = { 403: 'forbidden', 404: 'not_found' };

/** The code of a fault under pack-kit's `faultToError`. */
export function baseCodeOf({ kind, name, sent }: UpstreamFault, { effect }: ToolSpec): string {
  const isUnknown = effect === 'once' && sent !== 'no' && !REFUSALS.includes(kind);
  if (isUnknown) return 'outcome_unknown';
  return STATUS_CODES[name] ?? CODES[kind] ?? 'upstream_unavailable';
}

/**
 * Runs every tool under every fault. Fails unless the code is the expected one, `retryable` and `outcome`
 * follow from it and from the fault, no request is repeated more often than its effect allows, and every
 * write arrives after the journal has recorded it.
 */
export async function faultMatrix(options: FaultMatrixOptions): Promise<readonly FaultCell[]> {
  const { specs, faults = upstreamFaults } = options;
  const { tools } = buildManifest(specs);
  const cells: FaultCell[] = [];
  for (const one of faults) {
    const row = specs.map((spec) => {
      const codes = tools.find(({ name }) => name === spec.name)?.possible_error_codes ?? [];
      return runCell(options, one, spec, codes);
    });
    cells.push(...(await Promise.all(row)));
  }
  return cells;
}

async function runCell(
  options: FaultMatrixOptions,
  one: UpstreamFault,
  spec: ToolSpec,
  declared: readonly ErrorCode[],
): Promise<FaultCell> {
  const { argumentsOf, start, codeOf = baseCodeOf, maxRetries, healthy } = options;
  const { outcomeOf = (given) => outcomeOfFault(spec.effect, given) } = options;
  const { name: tool, effect } = spec;
  const journal = recordingJournal();
  const upstream = await startScriptedUpstream(
    (request) => healthy?.(request) ?? one.reply ?? { act: 'reset' },
    journal,
  );
  // A pack for each call, because failures open its circuit.
  const rig = await start(upstream, one);
  try {
    if (!one.reply) await upstream.close();
    const { middleware } = journal;
    const isMutation = effect !== 'read';
    const envelope = await rig.run(tool, argumentsOf(tool), isMutation ? { middleware } : {});
    const error = objectOf(memberOf(envelope, 'error')) ?? {};
    const code = stringOf(error['code']) ?? 'success';
    const outcome = stringOf(error['outcome']);
    const writes = upstream.requests.filter((request) => !healthy?.(request));
    const attempts = mostRepeated(writes);
    const cell = { tool, fault: one.name, code, retryable: error['retryable'] === true, outcome };
    assert.equal(envelopeSchema.safeParse(envelope).error, undefined, JSON.stringify(cell));
    assert.deepEqual(cell, {
      ...cell,
      code: codeOf(one, spec),
      retryable: isRetryable(code),
      outcome: outcomeOf(one, spec),
    });
    assert.ok(
      declared.some((known) => known === code),
      `${tool} does not declare ${code}`,
    );
    const allowed = effect === 'once' && one.sent !== 'no' ? 1 : 1 + maxRetries;
    assert.ok(attempts <= allowed, `${tool}, ${one.name}: ${attempts} attempts`);
    const isRecorded = writes.every(({ sendsBefore }, index) => sendsBefore > index);
    assert.ok(!isMutation || isRecorded, `${tool}, ${one.name}: sent before it was recorded`);
    return { ...cell, attempts };
  } finally {
    await rig.close();
    await upstream.close();
  }
}

function mostRepeated(requests: readonly ReceivedRequest[]): number {
  const counts = new Map<string, number>();
  for (const { method, path, params, body } of requests) {
    const key = [method, path, params.toString(), body.toString('base64')].join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
