import type { Arguments, Tool } from '@toolkeel/contract';
import type { Kit } from '../kit.js';
import type { Operation } from '../operation.js';
import type { AbsenceRule } from '../reconcile/absence.js';
import type { Settler } from './settler.js';

/** What the flow of a call is made of. */
export interface FlowParts {
  readonly kit: Kit;
  readonly settler: Settler;
  readonly absence: AbsenceRule;
  /** The settled operations that a tool has just undone. */
  readonly undone: (tool: Tool, account: string, args: Arguments) => Promise<readonly string[]>;
  readonly noteUnknown: (operation: Operation) => void;
  readonly noteReconciled: (operation: Operation, result: string, by: string) => void;
}
