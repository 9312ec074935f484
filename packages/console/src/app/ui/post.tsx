import type { JSX } from 'preact';
import type { TextPreview } from '../../api/types.js';
import { formatCount } from '../lib/format.js';

/** A text that people will read, as they will see it, with its length as the upstream counts it. */
export function PostPreview({
  text,
  account,
  showsLength = true,
}: {
  readonly text: TextPreview;
  readonly account?: string;
  /** It matters for a text that is still to be sent. */
  readonly showsLength?: boolean;
}): JSX.Element {
  const { value, kind, length, max_length } = text;
  const isTooLong = max_length !== undefined && length > max_length;
  return (
    <figure class={kind === 'post' ? 'post' : 'post is-text'}>
      {kind === 'post' && (
        <div class="post-head">
          <span class="post-face" aria-hidden="true" />
          <span class="truncate">{account ?? 'Your account'}</span>
        </div>
      )}
      <blockquote class="post-text">{value}</blockquote>
      {showsLength && (
        <figcaption class={isTooLong ? 'tone-danger' : 'muted'}>
          {max_length === undefined
            ? `${formatCount(length)} characters`
            : `${formatCount(length)} of ${formatCount(max_length)} characters${isTooLong ? ': too long' : ''}`}
        </figcaption>
      )}
    </figure>
  );
}
