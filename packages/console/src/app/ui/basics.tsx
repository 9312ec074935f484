import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { clock } from '../lib/clock.js';
import { formatAge, formatMoment, formatTime, shortId, toMs } from '../lib/format.js';
import { Icon, type IconName } from './icons.js';

export type Tone = 'ok' | 'warn' | 'danger' | 'unknown' | 'info' | 'idle';

interface BadgeProps {
  readonly tone: Tone;
  readonly icon?: IconName;
  readonly children: ComponentChildren;
  readonly title?: string;
}

export function Badge({ tone, icon = tone, children, title }: BadgeProps): JSX.Element {
  return (
    <span class={`badge is-${tone}`} title={title}>
      <Icon name={icon} />
      <span class="truncate">{children}</span>
    </span>
  );
}

interface NoteProps {
  readonly tone: Tone;
  readonly title?: string;
  readonly children?: ComponentChildren;
  readonly role?: 'alert' | 'status';
}

export function Note({ tone, title, children, role }: NoteProps): JSX.Element {
  return (
    <div class={`note is-${tone}`} role={role}>
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
      </div>
    </div>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** There is nothing, and this is known. Says what to do next. */
export function Empty({ title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Nothing is known yet. */
export function Loading({ what }: { readonly what: string }): JSX.Element {
  return (
    <div class="loading" role="status" aria-busy="true">
      <span />
      <span />
      <span />
      <p>Loading {what} …</p>
    </div>
  );
}

/** A moment in local time, its age on hover, and the zone where it stands alone. */
export function Time({
  at,
  zone = false,
}: {
  readonly at: string | number | undefined;
  readonly zone?: boolean;
}): JSX.Element {
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return <span class="muted">–</span>;
  const text = zone ? formatMoment(ms) : formatTime(ms);
  return (
    <time class="nowrap" dateTime={new Date(ms).toISOString()} title={formatMoment(ms)}>
      {text}
    </time>
  );
}

/** How long ago, kept up to date. */
export function Age({ at }: { readonly at: string | number | undefined }): JSX.Element {
  const ms = toMs(at);
  if (!Number.isFinite(ms)) return <span class="muted">–</span>;
  const age = formatAge(clock.value - ms);
  return (
    <time class="nowrap" dateTime={new Date(ms).toISOString()} title={formatMoment(ms)}>
      {age === 'now' ? 'just now' : `${age} ago`}
    </time>
  );
}

interface IdProps {
  readonly id: string;
  readonly href?: string;
}

export function Id({ id, href }: IdProps): JSX.Element {
  const text = (
    <span class="mono nowrap" title={id}>
      {shortId(id)}
    </span>
  );
  return href === undefined ? text : <a href={href}>{text}</a>;
}

export interface Fact {
  readonly name: string;
  /** Undefined facts are left out. */
  readonly value: ComponentChildren;
}

export function Facts({ facts }: { readonly facts: readonly (Fact | false)[] }): JSX.Element {
  const shown = facts.filter(
    (fact): fact is Fact => fact !== false && fact.value !== undefined && fact.value !== null,
  );
  return (
    <dl class="facts">
      {shown.map(({ name, value }) => [
        <dt key={`${name} name`}>{name}</dt>,
        <dd key={`${name} value`}>{value}</dd>,
      ])}
    </dl>
  );
}

interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  readonly low?: boolean;
}

export function Meter({ label, value, max, low = false }: MeterProps): JSX.Element {
  const share = max > 0 ? Math.max(0, Math.min(1, value / max)) : 0;
  return (
    <span class={low ? 'meter is-low' : 'meter'} role="img" aria-label={label} title={label}>
      <i style={{ width: `${share * 100}%` }} />
    </span>
  );
}

interface CopyProps {
  readonly text: string;
  readonly label: string;
}

export function Copy({ text, label }: CopyProps): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    // Only pages of this machine or of HTTPS have a clipboard.
    await navigator.clipboard?.writeText(text);
    setCopied(true);
  };
  return (
    <button type="button" class="button is-quiet is-small" onClick={() => void copy()}>
      <Icon name={isCopied ? 'ok' : 'copy'} /> {isCopied ? 'Copied' : label}
    </button>
  );
}
