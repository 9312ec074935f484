import { clip } from '../text.js';

/** A tool that cannot be what its definition says. Thrown when it is defined, never when it runs. */
export class ToolDefinitionError extends TypeError {
  override readonly name = 'ToolDefinitionError';
  readonly tool: string;
  readonly field: string;

  constructor(tool: string, field: string, problem: string) {
    super(`tool "${tool}", field "${field}": ${problem}`);
    this.tool = tool;
    this.field = field;
  }
}

/** Throws, naming tool and field, unless the condition holds. */
export type Demand = (holds: boolean, field: string, problem: string) => asserts holds;

export function demandFor(name: unknown): Demand {
  const tool = typeof name === 'string' ? clip(name, 64) : '?';
  return (holds, field, problem) => {
    if (!holds) throw new ToolDefinitionError(tool, field, problem);
  };
}
