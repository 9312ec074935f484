export interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Refuses a setting, naming it: a wrong number must not wait for the first failure to show. */
export function refuse(field: string, problem: string, value?: unknown): never {
  throw new RangeError(`${field} ${problem}${arguments.length > 2 ? `, got ${show(value)}` : ''}`);
}

export function checkNumber(field: string, value: unknown, bounds: Bounds): void {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    refuse(field, 'must be a finite number', value);
  }
  const { min, above, max, integer } = bounds;
  if (integer && !Number.isInteger(value)) refuse(field, 'must be a whole number', value);
  if (min !== undefined && value < min) refuse(field, `must be at least ${min}`, value);
  if (above !== undefined && value <= above) refuse(field, `must be above ${above}`, value);
  if (max !== undefined && value > max) refuse(field, `must be at most ${max}`, value);
}

/** Checks the numbers of an options object, field by field. */
export function checkNumbers<T extends object>(
  owner: string,
  options: T,
  bounds: { readonly [K in keyof T]?: Bounds },
): void {
  for (const field in bounds) checkNumber(owner + field, options[field], bounds[field]!);
}

export function checkChoice(field: string, value: unknown, choices: readonly string[]): void {
  if (!choices.includes(value as string)) refuse(field, `must be ${choices.join(' or ')}`, value);
}

/** Two numbers of which the first must not be the larger one. */
export function checkOrder(field: string, value: number, other: string, limit: number): void {
  if (value > limit) refuse(field, `is above ${other} (${limit})`, value);
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** The longest delay that a JavaScript timer can hold; a longer one would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;
