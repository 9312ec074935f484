import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { connection, live, reconnectNow } from './data/stream.js';
import { session } from './data/session.js';
import { clock } from './lib/clock.js';
import { formatSpan, formatDuration, formatMoment, formatTime, zoneAt } from './lib/format.js';
import { useKeys } from './lib/keys.js';
import { navigate, place } from './lib/router.js';
import { shortcutsOn } from './lib/settings.js';
import { Icon, Logo, type IconName } from './ui/icons.js';
import { Note } from './ui/basics.js';

interface Entry {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** The second key after `g`. */
  readonly key: string;
  readonly secondary?: true;
}

const ENTRIES: readonly Entry[] = [
  { path: '/', name: 'Now', icon: 'now', key: 'n' },
  { path: '/approvals', name: 'Approvals', icon: 'approvals', key: 'a' },
  { path: '/operations', name: 'Operations', icon: 'operations', key: 'o' },
  { path: '/calls', name: 'Calls', icon: 'calls', key: 'c' },
  { path: '/policy', name: 'Policy', icon: 'policy', key: 'p', secondary: true },
  { path: '/tools', name: 'Tools', icon: 'tools', key: 't', secondary: true },
  { path: '/audit', name: 'Audit', icon: 'audit', key: 'u', secondary: true },
];
const SETTINGS: Entry = {
  path: '/settings',
  name: 'Settings',
  icon: 'settings',
  key: 's',
  secondary: true,
};

/** `g` and a letter, as in a mail program. */
const GO_KEYS = Object.fromEntries(
  [...ENTRIES, SETTINGS].map(({ key, path }) => [`g ${key}`, () => navigate(path)]),
);

const isUnder = (path: string): boolean =>
  path === '/' ? place.value.path === '/' : place.value.path.startsWith(path);

export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const main = useRef<HTMLElement>(null);
  const { path } = place.value;
  const entry = [...ENTRIES, SETTINGS].find(({ path: at }) => isUnder(at));
  useEffect(() => {
    document.title = `${titlePrefix()}${entry?.name ?? 'Not found'} · Toolkeel`;
  });
  const first = useRef(true);
  useEffect(() => {
    // A screen reader announces the new page; the first one is announced by the browser.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  useKeys(GO_KEYS);
  const isLost = connection.value.state === 'lost';
  return (
    <div class={isLost ? 'shell is-frozen-data' : 'shell'}>
      <a class="skip" href="#content" data-external="true">
        Skip to the content
      </a>
      <div class="side">
        <Brand />
        <Navigation />
        <div class="side-foot nav">
          <NavLink entry={SETTINGS} />
        </div>
      </div>
      <div class="main">
        <header class="topbar">
          <Brand />
          <LiveState />
        </header>
        <Outage />
        <main id="content" class="page" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

/** The number of things that wait for a person stands in the title of the tab. */
function titlePrefix(): string {
  if (connection.value.state === 'lost') return '(!) ';
  const waiting = (live.value?.approvals.length ?? 0) + (live.value?.unknown.length ?? 0);
  return waiting === 0 ? '' : `(${waiting}) `;
}

function Brand(): JSX.Element {
  return (
    <a class="brand" href="/" aria-label="Toolkeel console, Now">
      <Logo />
      <span>Toolkeel</span>
    </a>
  );
}

function Navigation(): JSX.Element {
  const secondary = [...ENTRIES, SETTINGS].filter((entry) => entry.secondary);
  return (
    <nav class="nav" aria-label="Pages">
      {ENTRIES.map((entry) => (
        <NavLink key={entry.path} entry={entry} />
      ))}
      <details class="more" key={place.value.path}>
        <summary>
          <Icon name="more" />
          More
        </summary>
        <div class="more-menu">
          {secondary.map((entry) => (
            <NavLink key={entry.path} entry={{ ...entry, secondary: undefined }} />
          ))}
        </div>
      </details>
    </nav>
  );
}

interface NavLinkProps {
  readonly entry: Omit<Entry, 'secondary'> & { readonly secondary?: true | undefined };
}

function NavLink({ entry: { path, name, icon, secondary } }: NavLinkProps): JSX.Element {
  return (
    <a
      href={path}
      class={secondary ? 'is-secondary' : undefined}
      aria-current={isUnder(path) ? 'page' : undefined}
    >
      <Icon name={icon} />
      <span>{name}</span>
      <NavCount path={path} />
    </a>
  );
}

function NavCount({ path }: { readonly path: string }): JSX.Element | null {
  const state = live.value;
  if (!state) return null;
  if (path === '/approvals' && state.approvals.length > 0) {
    const count = state.approvals.length;
    return <Count tone="warn" count={count} what="waiting" />;
  }
  if (path === '/operations' && state.unknown.length > 0) {
    return <Count tone="unknown" count={state.unknown.length} what="with an unknown outcome" />;
  }
  const broken = state.now.statements.filter(({ severity }) => severity === 'broken').length;
  if (path === '/' && broken > 0) return <Count tone="danger" count={broken} what="broken" />;
  if (path === '/audit' && state.audit.state === 'invalid') {
    return <Count tone="danger" count={state.audit.problem_count} what="problems" />;
  }
  return null;
}

interface CountProps {
  readonly tone: 'warn' | 'unknown' | 'danger';
  readonly count: number;
  readonly what: string;
}

function Count({ tone, count, what }: CountProps): JSX.Element {
  return (
    <span class={`count is-${tone}`}>
      {count > 99 ? '99+' : count}
      <span class="visually-hidden"> {what}</span>
    </span>
  );
}

function LiveState(): JSX.Element {
  const state = connection.value;
  const zone = zoneAt(clock.value);
  const words = {
    connecting: 'Connecting …',
    live: 'Live',
    late: 'Waiting for news',
    lost: 'Connection lost',
    'signed-out': 'Signed out',
  }[state.state];
  const detail =
    state.state === 'live' ? ` · ${formatTime(clock.value)} ${zone}` : ` · times in ${zone}`;
  return (
    <span class={`live is-${state.state}`}>
      <span class="live-dot" aria-hidden="true" />
      <span>
        <b>{words}</b>
        {detail}
      </span>
    </span>
  );
}

/** Everything below it is old, and says so. */
function Outage(): JSX.Element | null {
  const state = connection.value;
  const cautions = session.value.state === 'signed-in' ? session.value.session.cautions : [];
  if (state.state === 'late') {
    return (
      <div class="outage is-late" role="status">
        No news from the server for {formatSpan(clock.value - state.heardAt)}.
      </div>
    );
  }
  if (state.state !== 'lost') {
    return cautions.length === 0 ? null : (
      <div class="cautions">
        {cautions.map((caution) => (
          <Note key={caution} tone="warn">
            {caution}
          </Note>
        ))}
      </div>
    );
  }
  const { heardAt, retryAt } = state;
  const left = Math.max(0, retryAt - clock.value);
  return (
    <div class="outage" role="alert">
      <span>
        <strong>Connection to the server lost.</strong>{' '}
        {heardAt === undefined
          ? 'Nothing has been loaded yet.'
          : `What you see is from ${formatMoment(heardAt)}, and may be wrong by now. Actions are switched off.`}
      </span>
      <span class="small" aria-hidden="true">
        {left < 1000 ? 'Trying …' : `Next try in ${formatDuration(Math.ceil(left / 1000) * 1000)}.`}
      </span>
      <button type="button" class="button is-small" onClick={reconnectNow}>
        Try now
      </button>
    </div>
  );
}

/** Shortcuts are shown only while they work. */
export function Key({ name }: { readonly name: string }): JSX.Element | null {
  return shortcutsOn.value ? <kbd aria-hidden="true">{name}</kbd> : null;
}
