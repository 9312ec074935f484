import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallSummary } from '../../../api/types.js';
import { attemptsText, endOf, formatDuration, shortId } from '../../lib/format.js';
import { useKeys } from '../../lib/keys.js';
import { navigate } from '../../lib/router.js';
import { rowWindow } from '../../lib/virtual.js';
import { Time } from '../../ui/basics.js';
import { processLabel } from '../../ui/process-label.js';
import { CodeBadge } from '../../ui/states.js';

interface CallRowsProps {
  readonly rows: readonly CallSummary[];
  /** Called when the end of the list comes near. */
  readonly onEnd: () => void;
}

const NARROW = '(max-width: 860px)';
const HEIGHTS = { wide: 41, narrow: 69 } as const;
const COLUMNS = [
  'Ended',
  'Tool',
  'Code',
  'Attempts',
  'Elapsed',
  'Process',
  'Correlation id',
] as const;
/** Rows before the end at which older calls are loaded. */
const NEAR_END = 60;

/** A list of any length with at most 100 rows in the document. It scrolls with the page. */
export function CallRows({ rows, onEnd }: CallRowsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  const [focused, setFocused] = useState(-1);
  const rowHeight = isNarrow ? HEIGHTS.narrow : HEIGHTS.wide;
  useEffect(() => {
    let frame = 0;
    const read = (): void => {
      frame = 0;
      setScrolled(-(list.current?.getBoundingClientRect().top ?? 0));
    };
    const plan = (): void => {
      frame ||= requestAnimationFrame(read);
    };
    const media = matchMedia(NARROW);
    const change = (): void => setNarrow(media.matches);
    addEventListener('scroll', plan, { passive: true });
    addEventListener('resize', plan);
    media.addEventListener('change', change);
    read();
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', plan);
      removeEventListener('resize', plan);
      media.removeEventListener('change', change);
    };
  }, []);
  const shown = rowWindow({ rows: rows.length, rowHeight, scrolled, height: innerHeight });
  const isNearEnd = shown.end >= rows.length - NEAR_END;
  useEffect(() => {
    if (isNearEnd) onEnd();
  }, [isNearEnd, rows.length]);
  const move = (by: number): void => {
    const to = Math.max(0, Math.min(rows.length - 1, focused + by));
    setFocused(to);
    const top = (list.current?.getBoundingClientRect().top ?? 0) + to * rowHeight;
    if (top < 80) scrollBy(0, top - 80);
    if (top > innerHeight - 2 * rowHeight) scrollBy(0, top - innerHeight + 2 * rowHeight);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const call = rows[focused];
      if (call) navigate(`/calls/${call.seq}`);
    },
  });
  return (
    <div role="table" aria-label="Ended calls" aria-rowcount={rows.length + 1} class="rows">
      <div role="row" aria-rowindex={1} class="row is-head">
        {COLUMNS.map((name) => (
          <span
            role="columnheader"
            key={name}
            class={name === 'Attempts' || name === 'Elapsed' ? 'num' : undefined}
          >
            {name}
          </span>
        ))}
      </div>
      <div role="rowgroup" ref={list} class="rows-body">
        <div style={{ height: `${shown.before}px` }} />
        {rows.slice(shown.first, shown.end).map((call, at) => (
          <Row
            key={call.seq}
            call={call}
            index={shown.first + at}
            isFocused={shown.first + at === focused}
          />
        ))}
        <div style={{ height: `${shown.after}px` }} />
      </div>
    </div>
  );
}

interface RowProps {
  readonly call: CallSummary;
  readonly index: number;
  readonly isFocused: boolean;
}

function Row({ call, index, isFocused }: RowProps): JSX.Element {
  const { seq, tool, code, outcome, attempts, elapsed_ms, correlation_id } = call;
  const acting = call.sends ?? attempts;
  const process = processLabel(call);
  return (
    <div role="row" aria-rowindex={index + 2} class={isFocused ? 'row is-focused' : 'row'}>
      <span role="cell" class="row-at">
        <Time at={endOf(call)} />
      </span>
      <span role="cell" class="row-tool truncate">
        <a class="row-link" href={`/calls/${seq}`} title={tool}>
          {tool}
        </a>
      </span>
      <span role="cell" class="row-code truncate">
        <CodeBadge code={code} outcome={outcome} />
      </span>
      <span role="cell" class="num row-attempts">
        {acting > 1 ? <strong class="tone-warn">{acting}</strong> : acting}
        <span class="only-narrow"> {acting === 1 ? 'attempt' : 'attempts'}</span>
        {acting < attempts && (
          <span class="small muted" title={attemptsText(call)}>
            {' '}
            + {attempts - acting} reads
          </span>
        )}
      </span>
      <span role="cell" class="num row-elapsed">
        {formatDuration(elapsed_ms)}
      </span>
      <span role="cell" class="truncate row-process" title={process}>
        {process}
      </span>
      <span role="cell" class="truncate mono row-id" title={correlation_id}>
        {shortId(correlation_id)}
      </span>
    </div>
  );
}
