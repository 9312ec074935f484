import type { JSX } from 'preact';

/** Shapes beside words: a state is never told by its colour alone. */
const PATHS = {
  now: 'M3 12h4l3-8 4 16 3-8h4',
  approvals: 'M4 12l5 5L20 6',
  operations: 'M4 6h16M4 12h16M4 18h10',
  calls: 'M5 5v14M5 12h9m0 0-4-4m4 4-4 4M19 5v14',
  tools: 'M14 6a4 4 0 0 0 5 5L10 20l-4-4 9-9M6 16l2 2',
  policy: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6l8-3Z',
  audit: 'M9 15l6-6M8 12l-2 2a4 4 0 0 0 6 6l2-2M16 12l2-2a4 4 0 0 0-6-6l-2 2',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  close: 'M6 6l12 12M18 6L6 18',
  pause: 'M9 5v14M15 5v14',
  play: 'M8 5l11 7-11 7V5Z',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  download: 'M12 4v11m0 0-4-4m4 4 4-4M5 20h14',
  ok: 'M4 13l5 5L20 7',
  danger: 'M6 6l12 12M18 6L6 18',
  warn: 'M12 4 2 20h20L12 4Z',
  unknown: 'M8 8.500a4 4 0 1 1 6 3.400c-1.300.8-2 1.500-2 3.100M12 20h.01',
  info: 'M12 11v7M12 6h.01',
  wait: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 8v4l3 2',
  settings: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4.500v5M8 14.500v5',
  idle: 'M6 12h12',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  const heavy = ['ok', 'danger', 'warn', 'unknown', 'idle', 'info', 'wait', 'more'].includes(name);
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width={heavy ? 3 : 2}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" fill="#0b5cad" />
      <path d="M6 11h20c0 7-4 11-10 11S6 18 6 11Z" fill="#fff" />
      <path d="M16 22v5" stroke="#fff" stroke-width="3" stroke-linecap="round" />
    </svg>
  );
}
