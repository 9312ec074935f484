import type { CircuitState, Fault, Timeline, TimelineItem } from '../../../api/types.js';
import { formatDuration } from '../../lib/format.js';

/** Where a bar lies on the axis, in percent of its length. */
export interface Span {
  readonly left: number;
  readonly width: number;
}

interface TimelineRow {
  readonly kind: 'attempt' | 'wait' | 'mark';
  readonly tone: 'ok' | 'fail' | 'run' | 'wait' | 'mark';
  readonly label: string;
  /** Names the request that begins with this row, if the call makes several. */
  readonly request?: string;
  /** The reason, and when it ends or ended, as a sentence. */
  readonly detail: string;
  readonly span: Span;
  /** The planned wait, where it is longer than the real one. */
  readonly planned?: Span;
  /** Not ended yet. */
  readonly isOpen: boolean;
}

interface Strip {
  readonly upstream: string;
  readonly spans: readonly (Span & { readonly state: CircuitState; readonly label: string })[];
}

export interface TimelineLayout {
  readonly ticks: readonly { readonly left: number; readonly label: string }[];
  readonly rows: readonly TimelineRow[];
  readonly strips: readonly Strip[];
}

/** Narrower bars cannot be seen. */
const MIN_WIDTH = 0.4;

const WAITS: Readonly<Record<Extract<TimelineItem, { kind: 'wait' }>['reason'], string>> = {
  backoff: 'Backoff',
  rate_limit: 'Rate limit',
  circuit: 'Circuit',
  queue: 'Queue',
  budget: 'Retry budget',
  approval: 'Approval',
};

/** Puts every attempt and every wait on one axis. A planned end beyond the call makes the axis longer. */
export function layoutTimeline({ length_ms, items, circuits }: Timeline): TimelineLayout {
  const planned = items.flatMap((item) =>
    item.kind === 'wait' && item.to_ms === undefined ? [item.planned_to_ms ?? 0] : [],
  );
  const length = Math.max(1, length_ms, ...planned.filter(Number.isFinite));
  const span = (from: number, to: number): Span => {
    const left = clamp((from / length) * 100);
    const width = Math.max(MIN_WIDTH, clamp((to / length) * 100) - left);
    return {
      left: Math.min(left, 100 - MIN_WIDTH),
      width: Math.min(width, 100 - Math.min(left, 100 - MIN_WIDTH)),
    };
  };
  return {
    ticks: ticksOf(length).map((ms) => ({ left: (ms / length) * 100, label: formatDuration(ms) })),
    rows: withRequests(items, (item) => rowOf(item, length_ms, span)),
    strips: circuits.map(({ upstream, spans }) => ({
      upstream,
      spans: spans.map(({ from_ms, to_ms, state }) => ({
        ...span(from_ms, to_ms),
        state,
        label: `${CIRCUITS[state]} from ${formatDuration(Math.max(0, from_ms))} to ${formatDuration(to_ms)}`,
      })),
    })),
  };
}

const isFirst = (item: TimelineItem): boolean =>
  item.kind === 'attempt' && item.attempt === 1 && !item.hedge;

/** A call may make several requests, each with attempts of its own. */
function withRequests(
  items: readonly TimelineItem[],
  row: (item: TimelineItem) => TimelineRow,
): readonly TimelineRow[] {
  if (items.filter(isFirst).length < 2) return items.map(row);
  let requests = 0;
  return items.map((item) => {
    if (item.kind !== 'attempt' || !isFirst(item)) return row(item);
    requests += 1;
    const what = item.request === undefined ? '' : `: ${item.request}`;
    return { ...row(item), request: `Request ${requests}${what}` };
  });
}

const CIRCUITS: Readonly<Record<CircuitState, string>> = {
  closed: 'closed',
  half_open: 'half-open',
  open: 'open',
};

const clamp = (percent: number): number =>
  Number.isFinite(percent) ? Math.max(0, Math.min(100, percent)) : 0;

function rowOf(
  item: TimelineItem,
  now: number,
  span: (from: number, to: number) => Span,
): TimelineRow {
  switch (item.kind) {
    case 'attempt': {
      const { attempt, from_ms, to_ms, fault, hedge, upstream } = item;
      const isOpen = to_ms === undefined;
      const took = isOpen ? 'still runs' : `took ${formatDuration(to_ms - from_ms)}`;
      const end = fault ? describeFault(fault) : isOpen ? '' : 'succeeded';
      return {
        kind: 'attempt',
        tone: isOpen ? 'run' : fault ? 'fail' : 'ok',
        label: `${hedge ? 'Hedge' : 'Attempt'} ${attempt}`,
        detail: [end, took, upstream].filter(Boolean).join(' · '),
        span: span(from_ms, to_ms ?? now),
        isOpen,
      };
    }
    case 'wait': {
      const { reason, from_ms, to_ms, planned_to_ms, text } = item;
      const isOpen = to_ms === undefined;
      const took = isOpen ? '' : formatDuration(to_ms - from_ms);
      const isLonger = planned_to_ms !== undefined && planned_to_ms > (to_ms ?? now);
      const plan = isLonger ? `planned for ${formatDuration(planned_to_ms - from_ms)}` : '';
      return {
        kind: 'wait',
        tone: 'wait',
        label: WAITS[reason],
        detail: [text, took, plan].filter(Boolean).join(' · '),
        span: span(from_ms, to_ms ?? now),
        ...(isLonger && { planned: span(from_ms, planned_to_ms) }),
        isOpen,
      };
    }
    case 'mark':
      return {
        kind: 'mark',
        tone: 'mark',
        label: 'Decision',
        detail: `${item.text} · after ${formatDuration(item.at_ms)}`,
        span: span(item.at_ms, item.at_ms),
        isOpen: false,
      };
  }
}

const SENT: Readonly<Record<Fault['sent'], string>> = {
  no: 'not sent',
  maybe: 'may have been sent',
  answered: 'the upstream responded',
};

export function describeFault({ kind, status, clock, sent }: Fault): string {
  const what = kind.replaceAll('_', ' ');
  const more = status === undefined ? (clock ?? '') : String(status);
  return `${what}${more === '' ? '' : ` (${more})`}, ${SENT[sent]}`;
}

const STEPS = [1, 2, 5] as const;

/** Four to eight round numbers from zero. */
export function ticksOf(length: number): readonly number[] {
  const rough = length / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 0.001)));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const count = Math.min(20, Math.floor(length / step + 1e-9));
  return Array.from({ length: count + 1 }, (_, at) => at * step);
}
