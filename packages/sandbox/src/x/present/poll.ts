import type { Json, JsonObject } from '../../json.js';
import type { Poll, Post } from '../world/things.js';
import { instant } from './instant.js';
import type { Shape } from './shape.js';
import type { View } from './view.js';

type Field = (poll: Poll, ends: number, now: number) => Json;

const fields: Readonly<Record<string, Field>> = {
  id: ({ id }) => id,
  options: ({ options }) =>
    options.map((label, index) => ({ position: index + 1, label, votes: 0 })),
  duration_minutes: ({ durationMinutes }) => durationMinutes,
  end_datetime: (_, ends) => instant(ends),
  voting_status: (_, ends, now) => (now < ends ? 'open' : 'closed'),
};

export function presentPoll(
  { poll, createdAt }: Post,
  { world }: View,
  shape: Shape,
): JsonObject[] {
  if (!poll) return [];
  const ends = createdAt + poll.durationMinutes * 60_000;
  const told = [...shape.poll].flatMap((name) => {
    const value = fields[name]?.(poll, ends, world.clock.now());
    return value === undefined ? [] : [[name, value] as const];
  });
  return [Object.fromEntries(told)];
}
