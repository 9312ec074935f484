import { isToolError, type ToolError } from './result.js';
import { ownMember } from '../own-member.js';

/** A tool error on its way up through code that returns something else. */
class RaisedToolError extends Error {
  override readonly name = 'RaisedToolError';
  readonly toolError: ToolError;

  constructor(toolError: ToolError) {
    super(toolError.input.message);
    this.toolError = toolError;
  }
}

/**
 * Ends a call with a tool error from deep inside. Returning it from the handler is better where
 * that is possible: then the compiler sees whether the tool declares the code.
 */
export function raise(error: ToolError): never {
  throw new RaisedToolError(error);
}

export function raisedToolError(thrown: unknown): ToolError | undefined {
  const error = ownMember(thrown, 'toolError');
  return isToolError(error) ? error : undefined;
}
