import type { ComponentChildren, JSX } from 'preact';
import type { Loaded } from '../data/load.js';
import { Empty, Loading, Note } from './basics.js';

interface PageHeadProps {
  readonly title: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly crumb?: ComponentChildren;
  /** Beside the title. */
  readonly badges?: ComponentChildren;
  readonly tools?: ComponentChildren;
}

export function PageHead({ title, lead, crumb, badges, tools }: PageHeadProps): JSX.Element {
  return (
    <div class="page-head">
      {crumb !== undefined && <p class="crumb">{crumb}</p>}
      <h1 class="wrap-anywhere">{title}</h1>
      {badges}
      {tools !== undefined && <div class="tools">{tools}</div>}
      {lead !== undefined && <div class="lead">{lead}</div>}
    </div>
  );
}

interface ResultProps<T> {
  readonly loaded: Loaded<T>;
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}

/** Tells loading, failure and content apart. What was loaded stays beside a later failure. */
export function Result<T>({ loaded, what, children }: ResultProps<T>): JSX.Element {
  const { value, failure, reload } = loaded;
  return (
    <>
      {failure && <Failed loaded={loaded} what={what} />}
      {value === undefined && !failure && <Loading what={what} />}
      {value === undefined && failure?.code === 'not_found' && (
        <Empty title="It does not exist (any more)">
          <p>{failure.whatToDo}</p>
        </Empty>
      )}
      {value !== undefined && children(value)}
      {value === undefined && failure && failure.code !== 'not_found' && (
        <div class="actions">
          <button type="button" class="button" onClick={reload}>
            Try again
          </button>
        </div>
      )}
    </>
  );
}

function Failed<T>({
  loaded: { value, failure },
  what,
}: Omit<ResultProps<T>, 'children'>): JSX.Element | null {
  if (!failure || (value === undefined && failure.code === 'not_found')) return null;
  const title = value === undefined ? `Could not load ${what}` : `Could not update ${what}`;
  return (
    <Note tone="danger" role="alert" title={title}>
      {failure.message} {failure.whatToDo}
    </Note>
  );
}
