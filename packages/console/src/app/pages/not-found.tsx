import type { JSX } from 'preact';
import { Empty } from '../ui/basics.js';

export function NotFound(): JSX.Element {
  return (
    <Empty title="There is no such page">
      <p>
        The link may be from another version. <a href="/">Go to Now</a>, or search in{' '}
        <a href="/calls">Calls</a>.
      </p>
    </Empty>
  );
}
