import type { LimitRule } from '../config/types.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../config/words.js';
import type { Report } from '../condition/node.js';
import { compileCondition, type CompileContext } from './compile-rule.js';
import type { CompiledLimit } from './policy.js';
import type { Template } from './templates.js';

const windows = [
  ['perMinute', 'minute', MINUTE_MS],
  ['perHour', 'hour', HOUR_MS],
  ['perDay', 'day', DAY_MS],
] as const;

/** The user's own, and those of the template that the user has not replaced. */
export function compileLimits(
  own: Readonly<Record<string, LimitRule>>,
  template: Template,
  around: CompileContext,
  report: Report,
): CompiledLimit[] {
  const compile = (source: 'user' | 'template') => {
    return ([name, rule]: [string, LimitRule]): CompiledLimit[] => {
      const condition = compileCondition(
        rule.when,
        false,
        ['limits', name, 'when'],
        around,
        report,
        `the limit "${name}"`,
      );
      return windows.flatMap(([member, unit, windowMs]) => {
        const max = rule[member];
        if (max === undefined) return [];
        return [{ name: `${name}/${unit}`, max, windowMs, each: rule.each, source, condition }];
      });
    };
  };
  const given = Object.entries(template.limits).filter(([name]) => !Object.hasOwn(own, name));
  return [...given.flatMap(compile('template')), ...Object.entries(own).flatMap(compile('user'))];
}
