import type { ComponentChildren, JSX } from 'preact';
import type {
  Arguments,
  Check,
  Difference,
  Operation,
  Preview,
  TextPreview,
} from '../../api/types.js';
import { responseText } from '../pages/operations/evidence-text.js';
import { words } from '../lib/format.js';
import { Age, Badge, Facts, Time, type Tone } from '../ui/basics.js';
import { Diff } from '../ui/diff.js';
import { Icon } from '../ui/icons.js';
import { JsonTree } from '../ui/json-tree.js';
import { PostPreview } from '../ui/post.js';
import { consequenceTexts } from './changed.js';

/** What the action is about, as people will see it. */
export function Subject({ preview }: { readonly preview: Preview }): JSX.Element {
  const { text, arguments: args, arguments_before: before, operation, checks } = preview;
  return (
    <>
      {text && (
        <PostPreview text={text} account={operation.account} showsLength={isExecution(checks)} />
      )}
      {before && args && (
        <section class="section">
          <h3>What the edit changes</h3>
          <Diff before={before} after={args} />
        </section>
      )}
      {!text && !before && args && (
        <div class="post is-text">
          <strong>{operation.tool}</strong>
          <JsonTree value={args} open={3} />
        </div>
      )}
      {operation.state === 'unknown' && <Known operation={operation} />}
    </>
  );
}

const isExecution = (checks: readonly Check[]): boolean => checks.some(({ by }) => by === 'policy');

/** The text, which is shown above, is the only argument. */
const isRepeated = (args: Arguments, text: TextPreview | undefined): boolean =>
  Object.keys(args).length === 1 && text !== undefined && args[text.argument] === text.value;

/** What is known of an unknown outcome, in one line. */
function Known({ operation }: { readonly operation: Operation }): JSX.Element {
  const { sending_at: sent, created_at: created, answer, blocked } = operation;
  return (
    <p class="small muted">
      Sent <Age at={sent ?? created} />. Response: {responseText(answer?.error)}.{' '}
      {blocked && <span title={blocked.explanation}>{sentence(words(blocked.reason))}</span>}
    </p>
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

interface ConsequenceProps {
  readonly preview: Preview;
  /** The operator has not given what the action needs, so the refusal is no news. */
  readonly isIncomplete?: boolean;
  /** The consequences are shown beside the choices. */
  readonly isSaid?: boolean;
  /** What the operator fills in. */
  readonly children?: ComponentChildren;
}

/** What the press does, as the runtime computes it: first a sentence, then every check, argument and the audit entry. */
export function Consequence(props: ConsequenceProps): JSX.Element {
  const { preview, isIncomplete = false, isSaid = false, children } = props;
  const { checks, hash, text: post, audit, refused } = preview;
  const { action, arguments: args, arguments_before: before } = preview;
  const executes = isExecution(checks);
  const isRisky =
    action === 'it_did_not_happen' ||
    (executes && checks.some(({ result }) => result === 'blocks' || result === 'warns'));
  const stop = checks.find(({ result }) => result === 'blocks');
  const texts = consequenceTexts(preview);
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
      {texts.length > 0 && !isSaid && (
        <section
          class={isRisky ? 'note consequence is-warn' : 'note consequence is-info'}
          aria-label="What happens"
        >
          <div>
            {texts.map((text, at) =>
              at === 0 ? (
                <strong key={text}>
                  {text}
                  {stop?.until !== undefined && (
                    <>
                      {' '}
                      {stop.by === 'circuit' ? (
                        <>
                          The next call after <Time at={stop.until} /> is a test.
                        </>
                      ) : (
                        <>
                          Until <Time at={stop.until} />.
                        </>
                      )}
                    </>
                  )}
                </strong>
              ) : (
                <p key={text}>{text}</p>
              ),
            )}
          </div>
        </section>
      )}
      {children}
      {executes && <Checks checks={checks} />}
      {/* On a phone, the text and the buttons come first. */}
      <details class="fold" open={executes && matchMedia('(min-width: 861px)').matches}>
        <summary>Exact arguments, hash, audit entry</summary>
        <div class="exact">
          <Facts
            facts={[
              {
                name: 'Arguments',
                value:
                  args && (post !== undefined || before) ? (
                    <JsonTree value={args} open={isRepeated(args, post) ? 0 : 2} />
                  ) : undefined,
              },
              { name: 'Hash', value: hash && <code>{hash}</code> },
              {
                name: 'Audit entry',
                value: (
                  <>
                    <code>{audit.kind}</code> by {audit.actor}
                    {Object.keys(audit.detail).length > 0 && (
                      <JsonTree value={audit.detail} open={0} />
                    )}
                  </>
                ),
              },
            ]}
          />
        </div>
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

const NAMED: readonly Check['by'][] = [
  'policy',
  'policy_limit',
  'circuit',
  'rate_limit',
  'retry_budget',
];

/** One word each; all of them and their sentences are one level deeper. */
function Checks({ checks }: { readonly checks: readonly Check[] }): JSX.Element {
  const named = checks.filter(({ by, result }) => result !== 'passes' || NAMED.includes(by));
  return (
    <details class="fold">
      <summary>
        <span class="checked">
          {named.map(({ by, result, text }) => (
            <span key={`${by} ${text}`} class={`tone-${RESULT[result][0]}`} title={text}>
              <Icon name={RESULT[result][0]} />
              <span class="visually-hidden">{RESULT[result][1]}: </span>
              {by.replaceAll('_', ' ')}
            </span>
          ))}
        </span>
      </summary>
      <ul class="checks">
        {checks.map((check) => (
          <CheckItem key={`${check.by} ${check.text}`} check={check} />
        ))}
      </ul>
    </details>
  );
}

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

/** Changes of a check for the worse. */
const RISKY = /^stops it|may fail$/;

/** What differs from the state that the operator saw. */
export function Moved({ difference }: { readonly difference: readonly Difference[] }): JSX.Element {
  return (
    <div class="diff">
      {difference.map(({ field, was, is }) => (
        <div class="diff-row" key={field}>
          <span class="mono">{field}</span>
          <div>
            <del>{was}</del> <ins class={RISKY.test(is) ? 'is-warn' : undefined}>{is}</ins>
          </div>
        </div>
      ))}
    </div>
  );
}
