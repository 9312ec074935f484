export interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Refuses a setting, naming it: a wrong number must not wait for the first failure to show. */
export function refuse(field: string, problem: string, value?: unknown): never {
  throw new RangeError(
    `${field} ${problem}${arguments.length > 2 ? `, got ${String(value)}` : ''}`,
  );
}

export function checkNumber(field: string, value: number, bounds: Bounds): void {
  if (!Number.isFinite(value)) refuse(field, 'must be a finite number', value);
  const { min = -Infinity, above = -Infinity, max = Infinity, integer } = bounds;
  if (integer && value % 1) refuse(field, 'must be a whole number', value);
  if (value < min) refuse(field, `must be at least ${min}`, value);
  if (value <= above) refuse(field, `must be above ${above}`, value);
  if (value > max) refuse(field, `must be at most ${max}`, value);
}

/** Checks the numbers of an options object, field by field. */
export function checkNumbers<T extends object>(
  owner: string,
  options: T,
  bounds: { readonly [K in keyof T]?: Bounds },
): void {
  for (const field in bounds) checkNumber(owner + field, options[field] as number, bounds[field]!);
}

export function checkChoice(field: string, value: unknown, choices: readonly string[]): void {
  if (!choices.includes(value as string)) refuse(field, `must be ${choices.join(' or ')}`, value);
}

/** Two numbers of which the first must not be the larger one; Infinity is one that was not given. */
export function checkOrder(field: string, value: number, other: string, limit: number): void {
  if (value > limit && value < Infinity) refuse(field, `is above ${other} (${limit})`, value);
}

/** The longest delay that a JavaScript timer can hold; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;
