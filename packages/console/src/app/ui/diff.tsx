import { diffWordsWithSpace } from 'diff';
import microdiff from 'microdiff';
import type { JSX } from 'preact';

interface DiffProps {
  readonly before: object;
  readonly after: object;
}

/** What changes between two objects, field by field; texts word by word. */
export function Diff({ before, after }: DiffProps): JSX.Element {
  const changes = microdiff(before, after);
  if (changes.length === 0) return <p class="muted">No difference.</p>;
  return (
    <div class="diff">
      {changes.map((change) => (
        <div class="diff-row" key={change.path.join('.')}>
          <span class="mono">{change.path.join('.')}</span>
          <div>
            {change.type === 'CREATE' && <ins>{asText(change.value)}</ins>}
            {change.type === 'REMOVE' && <del>{asText(change.oldValue)}</del>}
            {change.type === 'CHANGE' && <Change from={change.oldValue} to={change.value} />}
          </div>
        </div>
      ))}
    </div>
  );
}

function Change({ from, to }: { readonly from: unknown; readonly to: unknown }): JSX.Element {
  if (typeof from !== 'string' || typeof to !== 'string') {
    return (
      <>
        <del>{asText(from)}</del> <ins>{asText(to)}</ins>
      </>
    );
  }
  return (
    <>
      {diffWordsWithSpace(from, to).map(({ value, added, removed }, at) => {
        if (added) return <ins key={at}>{value}</ins>;
        if (removed) return <del key={at}>{value}</del>;
        return <span key={at}>{value}</span>;
      })}
    </>
  );
}

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
