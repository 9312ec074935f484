import type { ToolSpec } from './tool.js';

/** Hints for a client, with the names that MCP gives them. */
export interface ToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

type Annotated = Pick<ToolSpec, 'title' | 'effect' | 'destructive' | 'openWorld'>;

export function toolAnnotations({
  title,
  effect,
  destructive,
  openWorld,
}: Annotated): ToolAnnotations {
  return Object.freeze({
    title,
    readOnlyHint: effect === 'read',
    destructiveHint: destructive,
    idempotentHint: effect !== 'once',
    openWorldHint: openWorld,
  });
}
