import { outputJsonSchema, toolAnnotations, type Profile, type ToolSpec } from '@toolkeel/contract';
import type { Tool as McpTool } from '@modelcontextprotocol/server';

/** A tool as `tools/list` shows it. Its schemas are made here, once, and not for every request. */
export function toolListing(spec: ToolSpec, profile: Profile): McpTool {
  const { name, title, description, inputSchema } = spec;
  return Object.freeze({
    name,
    title,
    description,
    inputSchema: inputSchema as McpTool['inputSchema'],
    outputSchema: outputJsonSchema(spec, profile),
    annotations: { ...toolAnnotations(spec) },
  });
}
