import type { JSX } from 'preact';
import type { Effect } from '../../../api/types.js';
import { Badge, type Tone } from '../../ui/basics.js';

const EFFECTS: Readonly<Record<Effect, readonly [Tone, string, string]>> = {
  read: ['idle', 'read', 'Changes nothing.'],
  idempotent: ['info', 'idempotent', 'Repeating it leads to the same state.'],
  once: ['warn', 'once', 'Repeating it would act again; the journal prevents that.'],
};

export function EffectBadge({ effect }: { readonly effect: Effect }): JSX.Element {
  const [tone, word, title] = EFFECTS[effect];
  return (
    <Badge tone={tone} title={title}>
      {word}
    </Badge>
  );
}
