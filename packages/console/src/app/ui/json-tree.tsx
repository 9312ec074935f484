import type { JSX } from 'preact';

interface TreeProps {
  readonly value: unknown;
  /** How many levels are open at first. */
  readonly open?: number;
}

/** JSON as a tree of native disclosure elements. Strings of upstreams are text nodes and nothing else. */
export function JsonTree({ value, open = 2 }: TreeProps): JSX.Element {
  return (
    <div class="tree">
      <Branch value={value} open={open} />
    </div>
  );
}

/** A longer array or object shows its first entries and how many follow: a page must stay responsive. */
const MAX_ENTRIES = 200;

interface BranchProps extends TreeProps {
  readonly name?: string;
  readonly open: number;
}

function Branch({ name, value, open }: BranchProps): JSX.Element {
  const label = name === undefined ? null : <span class="key">{name}: </span>;
  if (value === null || typeof value !== 'object') {
    return (
      <div>
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries = Object.entries(value);
  const kind = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) {
    return (
      <div>
        {label}
        <span class="null">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <details open={open > 0}>
      <summary>
        {label}
        <span class="null">{kind}</span>
      </summary>
      <div class="children">
        {entries.slice(0, MAX_ENTRIES).map(([key, child]) => (
          <Branch key={key} name={key} value={child} open={open - 1} />
        ))}
        {entries.length > MAX_ENTRIES && (
          <div class="null">and {entries.length - MAX_ENTRIES} more</div>
        )}
      </div>
    </details>
  );
}

function Leaf({ value }: { readonly value: unknown }): JSX.Element {
  if (typeof value === 'string') return <span class="string">{JSON.stringify(value)}</span>;
  const kind = value === null ? 'null' : typeof value;
  return <span class={kind}>{String(value)}</span>;
}
