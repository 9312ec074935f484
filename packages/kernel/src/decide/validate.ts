import type { BreakerOptions } from '../layers/breaker.js';
import type { BudgetOptions } from '../layers/budget.js';
import type { HedgeOptions } from '../layers/hedge.js';

interface Bounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Refuses a setting, naming it: a wrong number must not wait for the first failure to show. */
export function refuse(field: string, problem: string, value?: unknown): never {
  throw new RangeError(`${field} ${problem}${value === undefined ? '' : `, got ${show(value)}`}`);
}

export function checkNumber(field: string, value: unknown, bounds: Bounds): void {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    refuse(field, 'must be a finite number', value === undefined ? 'undefined' : value);
  }
  const { min, above, max, integer } = bounds;
  if (integer && !Number.isInteger(value)) refuse(field, 'must be a whole number', value);
  if (min !== undefined && value < min) refuse(field, `must be at least ${min}`, value);
  if (above !== undefined && value <= above) refuse(field, `must be above ${above}`, value);
  if (max !== undefined && value > max) refuse(field, `must be at most ${max}`, value);
}

export function checkBudget(options: BudgetOptions): void {
  checkNumber('budget.capacity', options.capacity, { above: 0 });
  checkNumber('budget.perSuccess', options.perSuccess, { min: 0 });
  checkNumber('budget.perSecond', options.perSecond, { min: 0 });
}

export function checkBreaker(options: BreakerOptions): void {
  checkNumber('breaker.failureShare', options.failureShare, { above: 0, max: 1 });
  checkNumber('breaker.minimumAttempts', options.minimumAttempts, { min: 1, integer: true });
  checkNumber('breaker.windowMs', options.windowMs, { above: 0 });
  checkNumber('breaker.openMs', options.openMs, { above: 0 });
  checkNumber('breaker.probes', options.probes, { min: 1, integer: true });
}

export function checkHedge(options: HedgeOptions): void {
  checkNumber('hedge.quantile', options.quantile, { above: 0, max: 1 });
  checkNumber('hedge.minSamples', options.minSamples, { min: 1, integer: true });
  checkNumber('hedge.capacity', options.capacity, { min: 0 });
  checkNumber('hedge.perSuccess', options.perSuccess, { min: 0 });
}

function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
