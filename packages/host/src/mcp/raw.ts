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

/** A plain MCP tool. Its result is sent to the client unchanged, apart from redaction. */
export interface RawTool {
  readonly definition: McpTool;
  readonly call: (
    params: CallToolRequest['params'],
    context: ServerContext,
  ) => MaybePromise<CallToolResult | InputRequiredResult>;
  /** The time limit of a call. Default: none, because a user may have to respond first. */
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

/** Plain MCP handlers, with the host's logging, metrics and redaction: for pass-through and fixtures. */
export interface Raw {
  readonly tools?: readonly RawTool[];
  readonly resources?: readonly RawResource[];
  readonly prompts?: readonly RawPrompt[];
  readonly capabilities?: ServerCapabilities;
  /** Validates the state that a client returns in a multi-round call. */
  readonly requestState?: ServerOptions['requestState'];
  /** Sets further handlers on every server. */
  readonly install?: (server: McpServer['server']) => void;
}
