import type { JSX } from 'preact';
import type { Timeline } from '../../../api/types.js';
import { formatMoment, toMs } from '../../lib/format.js';
import { layoutTimeline, type Span } from './timeline.js';

const at = ({ left, width }: Span): { left: string; width: string } => ({
  left: `${left}%`,
  width: `${width}%`,
});

/** Attempts and waits on one axis, the circuit beneath. Every bar is also a sentence. */
export function TimelineView({ timeline }: { readonly timeline: Timeline }): JSX.Element {
  const { ticks, rows, strips } = layoutTimeline(timeline);
  return (
    <div class="timeline">
      <p class="small muted">
        The axis begins at {formatMoment(toMs(timeline.starts_at))}.
        {!timeline.recorded && ' The attempts of this call were not recorded one by one.'}
        {timeline.omitted !== undefined && ` ${timeline.omitted} items are left out.`}
      </p>
      <div class="tl-axis" aria-hidden="true">
        {ticks.map(({ left, label }) => (
          <span key={label} class={left > 88 ? 'is-last' : undefined} style={{ left: `${left}%` }}>
            {label}
          </span>
        ))}
      </div>
      <ol class="tl-rows">
        {rows.map((row, index) => (
          <li key={index} class={row.request === undefined ? 'tl-row' : 'tl-row is-request'}>
            {row.request !== undefined && <span class="tl-request">{row.request}</span>}
            <span class="tl-label">{row.label}</span>
            <span class="tl-track" aria-hidden="true">
              {row.planned && <i class="tl-bar is-planned" style={at(row.planned)} />}
              <i
                class={`tl-bar is-${row.tone}${row.isOpen ? ' is-open' : ''}`}
                style={at(row.span)}
              />
            </span>
            <span class="tl-detail">{row.detail}</span>
          </li>
        ))}
        {strips.map(({ upstream, spans }) => (
          <li key={upstream} class="tl-row is-strip">
            <span class="tl-label">Circuit</span>
            <span class="tl-track" aria-hidden="true">
              {spans.map((span) => (
                <i key={span.left} class={`tl-strip is-${span.state}`} style={at(span)} />
              ))}
            </span>
            <span class="tl-detail">
              {upstream}: {spans.map(({ label }) => label).join(', ')}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
