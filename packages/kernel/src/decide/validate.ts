export interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Throws a RangeError that names the setting. */
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

/** Checks the numeric fields of an options object. */
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

/** Checks that the first number is not larger than the second; Infinity means not set. */
export function checkOrder(field: string, value: number, other: string, limit: number): void {
  if (value > limit && value < Infinity) refuse(field, `is above ${other} (${limit})`, value);
}

/** The maximum delay of a Node.js timer; a longer one would fire immediately. */
export const MAX_TIMER_MS = 2_147_483_647;
