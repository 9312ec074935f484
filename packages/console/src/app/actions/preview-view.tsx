import type { JSX } from 'preact';
import type { Check, Difference, Preview } from '../../api/types.js';
import { Badge, Facts, Time, type Tone } from '../ui/basics.js';
import { Diff } from '../ui/diff.js';
import { JsonTree } from '../ui/json-tree.js';
import { PostPreview } from '../ui/post.js';

interface PreviewProps {
  readonly preview: Preview;
  /** The operator has not given what the action needs, so the refusal is no news. */
  readonly isIncomplete?: boolean;
}

/** What will happen, as the runtime computes it: consequences, checks, exact arguments, audit entry. */
export function PreviewView({ preview, isIncomplete = false }: PreviewProps): JSX.Element {
  const { consequences, checks, hash, text, audit, refused } = preview;
  const { arguments: args, arguments_before: before } = preview;
  return (
    <>
      {refused !== undefined && !isIncomplete && (
        <div class="note is-danger" role="alert">
          <div>
            <strong>Not possible</strong>
            <p>{refused}</p>
          </div>
        </div>
      )}
      <section class="section">
        <h3>What happens</h3>
        <ol class="consequences">
          {consequences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ol>
      </section>
      {checks.length > 0 && (
        <section class="section">
          <h3>What could still stop it, checked now</h3>
          <ul class="checks">
            {checks.map((check) => (
              <CheckItem key={`${check.by} ${check.text}`} check={check} />
            ))}
          </ul>
        </section>
      )}
      {before && args && (
        <section class="section">
          <h3>What the edit changes</h3>
          <Diff before={before} after={args} />
        </section>
      )}
      {text && <PostPreview text={text} account={preview.operation.account} />}
      {args && (
        <details class="fold" open={!text && !before}>
          <summary>Exact arguments</summary>
          <JsonTree value={args} />
        </details>
      )}
      <details class="fold">
        <summary>Audit entry and hash</summary>
        <Facts
          facts={[
            { name: 'Entry', value: <code>{audit.kind}</code> },
            { name: 'By', value: audit.actor },
            { name: 'Hash of the arguments', value: hash && <code>{hash}</code> },
            { name: 'Detail', value: <JsonTree value={audit.detail} /> },
          ]}
        />
      </details>
    </>
  );
}

const RESULT: Readonly<Record<Check['result'], readonly [Tone, string]>> = {
  passes: ['ok', 'Passes'],
  warns: ['warn', 'Risk'],
  blocks: ['danger', 'Blocks'],
  unknown: ['unknown', 'Not known'],
};

function CheckItem({ check: { result, text, until } }: { readonly check: Check }): JSX.Element {
  const [tone, word] = RESULT[result];
  return (
    <li>
      <Badge tone={tone}>{word}</Badge>
      <span class="wrap-anywhere">
        {text}
        {until !== undefined && (
          <span class="muted">
            {' '}
            Until <Time at={until} zone />.
          </span>
        )}
      </span>
    </li>
  );
}

/** What differs from the state that the operator saw. */
export function Moved({ difference }: { readonly difference: readonly Difference[] }): JSX.Element {
  return (
    <div class="diff">
      {difference.map(({ field, was, is }) => (
        <div class="diff-row" key={field}>
          <span class="mono">{field}</span>
          <div>
            <del>{was}</del> <ins>{is}</ins>
          </div>
        </div>
      ))}
    </div>
  );
}
