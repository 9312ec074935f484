import type { Arguments, Tool } from '@toolkeel/contract';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { AbsenceRule } from '../reconcile/absence.js';
import type { Confirmations } from '../reconcile/confirmations.js';
import type { Settler } from './settler.js';

/** What the flow of a call is made of. */
export interface FlowParts {
  readonly kit: Kit;
  readonly settler: Settler;
  readonly absence: AbsenceRule;
  readonly confirmations: Confirmations;
  /**
   * The settled operations that a tool undoes. `repeatable`: only those that may be done again whether
   * or not it comes to that.
   */
  readonly undone: (
    tool: Tool,
    account: string,
    args: Arguments,
    which?: 'all' | 'repeatable',
  ) => Promise<readonly string[]>;
  /** Ends the lease of its owner where that is surely gone; true if it did. */
  readonly evictOwner: (operation: Operation) => Promise<boolean>;
  readonly noteUnknown: (operation: Operation) => void;
  /** Whoever closes the journal waits for it. */
  readonly track: (work: Promise<unknown>) => void;
  readonly noteReconciled: (operation: Operation, result: string, by: string) => void;
}
