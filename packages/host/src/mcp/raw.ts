import type {
  CallToolRequest,
  CallToolResult,
  GetPromptRequest,
  GetPromptResult,
  InputRequiredResult,
  McpServer,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerCapabilities,
  ServerContext,
  ServerOptions,
  Tool as McpTool,
} from '@modelcontextprotocol/server';

type MaybePromise<T> = T | Promise<T>;

/** A plain MCP tool: what it returns goes to the client as it is. */
export interface RawTool {
  readonly definition: McpTool;
  readonly call: (
    params: CallToolRequest['params'],
    context: ServerContext,
  ) => MaybePromise<CallToolResult | InputRequiredResult>;
  /** The most that one call may take. Default: no end, because a person may have to answer first. */
  readonly timeoutMs?: number;
}

export interface RawResource {
  readonly definition: Resource | ResourceTemplateType;
  readonly read: (uri: string, context: ServerContext) => MaybePromise<ReadResourceResult>;
}

export interface RawPrompt {
  readonly definition: Prompt;
  readonly get: (
    params: GetPromptRequest['params'],
    context: ServerContext,
  ) => MaybePromise<GetPromptResult | InputRequiredResult>;
}

/** Plain MCP, inside of the host's middleware: for what is passed through, and for fixtures. */
export interface Raw {
  readonly tools?: readonly RawTool[];
  readonly resources?: readonly RawResource[];
  readonly prompts?: readonly RawPrompt[];
  readonly capabilities?: ServerCapabilities;
  /** Checks what comes back from a client in a call of several rounds. */
  readonly requestState?: ServerOptions['requestState'];
  /** Further handlers, set on every server that is made. */
  readonly install?: (server: McpServer['server']) => void;
}
