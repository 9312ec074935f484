import { TOOL_FAILURE_KEY, toolFailure, type ToolRun } from '@toolkeel/contract';
import type { CallToolResult } from '@modelcontextprotocol/server';

/**
 * The envelope as MCP carries it: as structured content, and as the very same JSON in the first text
 * block, because clients differ in which of the two they show the model.
 */
export function callToolResult({
  envelope,
  text,
}: Pick<ToolRun, 'envelope' | 'text'>): CallToolResult {
  const structuredContent = envelope as unknown as Record<string, unknown>;
  const content: CallToolResult['content'] = [{ type: 'text', text }];
  if (envelope.success) return { content, structuredContent };
  const failure = { ...toolFailure(envelope, Date.now()) };
  return { content, structuredContent, isError: true, _meta: { [TOOL_FAILURE_KEY]: failure } };
}
