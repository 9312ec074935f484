import type { Day, Mode, RuleAction, TemplateName, ToolEffect } from './words.js';

/** One name or pattern, or several of which any may hold. `*` stands for any characters. */
export type Names = string | readonly string[];

export type Scalar = string | number | boolean;

/** All that are given must hold. */
export interface Bounds {
  readonly gt?: number;
  readonly gte?: number;
  readonly lt?: number;
  readonly lte?: number;
}

/** How many there are: `true` is any, `false` is none. */
export type Count = boolean | Bounds;

/** What is asked of an argument. All that are given must hold, of one and the same value. */
export interface Operators extends Bounds {
  readonly exists?: boolean;
  readonly equals?: Scalar;
  readonly notEquals?: Scalar;
  readonly in?: readonly Scalar[];
  readonly notIn?: readonly Scalar[];
  /** Any of these words in a text, however it is cased or spaced; or a list with such an item. */
  readonly contains?: Names;
  /** The whole text, where `*` stands for any characters, however it is cased or spaced. */
  readonly matches?: Names;
  /** Characters of a text, items of a list. */
  readonly length?: Bounds;
  readonly links?: Count;
  /** A link to one of these hosts, or to a part of them. */
  readonly linkHostIn?: readonly string[];
  /** A link to anywhere else. */
  readonly linkHostNotIn?: readonly string[];
  readonly mentions?: Count;
  readonly hashtags?: Count;
  readonly cashtags?: Count;
}

/** What a call was estimated to cost. Another unit, or no estimate, cannot be compared. */
export interface CostCondition extends Bounds {
  readonly unit: string;
}

/** By the clock on the wall of a place. A window that spans midnight belongs to the day it begins. */
export interface TimeCondition {
  /** A name of the IANA database, such as `Europe/Rome`. */
  readonly zone: string;
  /** From the first, and before the second: `["22:00", "07:00"]`. */
  readonly between?: readonly [string, string];
  readonly days?: readonly Day[];
}

/** All members must hold. */
export interface Condition {
  readonly tool?: Names;
  readonly category?: Names;
  readonly effect?: ToolEffect | readonly ToolEffect[];
  readonly account?: Names;
  readonly cost?: CostCondition;
  readonly time?: TimeCondition;
  readonly all?: readonly Condition[];
  readonly any?: readonly Condition[];
  readonly not?: Condition;
  /** `args.text`, `args.media_ids[*]`, `args.tweets[0].text`, `args["a name"]`. */
  readonly [path: `args.${string}` | `args[${string}`]: Operators;
}

export interface Rule {
  readonly name: string;
  /** Left out: every call that changes something. */
  readonly when?: Condition;
  readonly action: RuleAction;
  /** Told to whoever is refused, or asked. */
  readonly reason?: string;
  /** How long a person may take; for `require_approval`. */
  readonly expiresInHours?: number;
}

/** How much may be sent. Windows slide: a day is the last 24 hours. */
export interface LimitRule {
  readonly when?: Condition;
  readonly perMinute?: number;
  readonly perHour?: number;
  readonly perDay?: number;
  /** Count each account or each tool by itself. Left out: all together. */
  readonly each?: 'account' | 'tool';
}

/** The sections of the configuration that are about what may be done. */
export interface PolicyConfig {
  readonly mode?: Mode;
  readonly template?: TemplateName;
  /** Never, whatever else is said. These may also be tools that only read. */
  readonly blockedTools?: readonly string[];
  readonly rules?: readonly Rule[];
  readonly limits?: Readonly<Record<string, LimitRule>>;
  readonly approvals?: { readonly expiresInHours?: number };
}
