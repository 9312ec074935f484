import { computed, signal, type ReadonlySignal } from '@preact/signals';

/** A page address: path segments and query parameters. Filters live in the query, so that a view can be shared. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const read = (): Place => ({
  path: location.pathname,
  query: new URLSearchParams(location.search),
});

const current = signal<Place>(read());
export const place: ReadonlySignal<Place> = computed(() => current.value);

export interface NavigateOptions {
  /** Replaces the history entry: for filters, which should not fill the back button. */
  readonly replace?: boolean;
}

export function navigate(to: string, { replace = false }: NavigateOptions = {}): void {
  if (to === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  const before = current.value.path;
  current.value = read();
  if (before !== current.value.path) scrollTo(0, 0);
}

/** Sets query parameters of the current page; an empty value removes one. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  navigate(place.value.path + withQuery(place.value.query, changes), { replace: true });
}

/** The query string with changes applied, with its question mark; an empty value removes a parameter. */
export function withQuery(
  query: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}

/** Follows links inside the console without loading the page again. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    current.value = read();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.origin !== location.origin) return;
    if (link.target !== '' || link.hasAttribute('download') || link.dataset['external']) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
}

/** `/calls/:id` against `/calls/abc` gives `{ id: 'abc' }`. */
export function match(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/');
  const given = path.replace(/(.)\/$/, '$1').split('/');
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      found[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return found;
}
