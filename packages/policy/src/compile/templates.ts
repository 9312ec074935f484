import type { PolicyTool } from '../catalogue.js';
import type { LimitRule } from '../config/types.js';
import type { RuleAction, TemplateName } from '../config/words.js';

/** What holds where no rule of the user matches. A rule of the user's own replaces it. */
export interface Template {
  readonly description: string;
  /** Which changes a person is asked about. */
  readonly asks: 'always' | 'when_destructive' | 'never';
  /** A limit of the user's own by the same name replaces it. */
  readonly limits: Readonly<Record<string, LimitRule>>;
}

export const templates: Readonly<Record<TemplateName, Template>> = Object.freeze({
  safe: {
    description: 'A person is asked before anything is changed; at most 20 changes an hour.',
    asks: 'always',
    limits: { global: { perHour: 20 } },
  },
  standard: {
    description: 'A person is asked before anything is destroyed; at most 60 changes an hour.',
    asks: 'when_destructive',
    limits: { global: { perHour: 60 } },
  },
  open: {
    description: 'Everything is allowed that no rule restricts.',
    asks: 'never',
    limits: {},
  },
});

/** What a template says of a tool that changes something. */
export function templateAction({ asks }: Template, { destructive = true }: PolicyTool): RuleAction {
  const isAsked = asks === 'always' || (asks === 'when_destructive' && destructive);
  return isAsked ? 'require_approval' : 'allow';
}
