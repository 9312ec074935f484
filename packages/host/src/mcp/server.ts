import { randomUUID } from 'node:crypto';
import {
  McpServer,
  mergeCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  type CallToolRequest,
  type Implementation,
  type ListToolsResult,
  type ServerCapabilities,
  type ServerOptions,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { ToolTable } from '../catalog/tools.js';
import type { HostLog } from '../log/log.js';
import type { Scrub } from '../secret/secrets.js';
import type { Prompts } from './prompts.js';
import type { Raw } from './raw.js';
import type { Resources } from './resources.js';
import type { ToolCalls } from './tools.js';

/** What all servers of a host share. */
export interface ServerParts {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  readonly tools: ToolTable;
  readonly calls: ToolCalls;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly raws: readonly Raw[];
  /** See `hideInternalErrors`. */
  readonly handle: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Lists do not change during the lifetime of a process. */
const CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const;

/**
 * The SDK validates every call before it selects a handler. Without a schema of its own the handler would
 * validate it again, which takes a tenth of the time of a quick call.
 */
const validatedBySdk: StandardSchemaV1<CallToolRequest['params']> = {
  '~standard': {
    version: 1,
    vendor: 'toolkeel',
    validate: (value) => ({ value: value as CallToolRequest['params'] }),
  },
};

let sharedValidator: AjvJsonSchemaValidator | undefined;
/** Shared, because the SDK creates one per server, and over HTTP there is a server per request. */
const validator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator: (schema) => (sharedValidator ??= new AjvJsonSchemaValidator()).getValidator(schema),
};

/**
 * Creates the server of a connection, or of a single request. The handlers are set on the low-level
 * server, so that tools, schemas and listings are shared by all servers.
 */
export function createMcpServer(parts: ServerParts): McpServer {
  const { info, instructions, tools, calls, resources, prompts, raws, handle } = parts;
  const requestState = raws.find((raw) => raw.requestState)?.requestState;
  const mcp = new McpServer(info, {
    capabilities: capabilitiesOf(raws),
    jsonSchemaValidator: validator,
    cacheHints: {
      'tools/list': CACHE,
      'prompts/list': CACHE,
      'resources/list': CACHE,
      'resources/templates/list': CACHE,
    },
    ...(instructions !== undefined && { instructions }),
    ...(requestState && { requestState }),
  });
  const { server } = mcp;
  server.setRequestHandler('tools/list', () => ({ tools: tools.listing }) as ListToolsResult);
  server.setRequestHandler('tools/call', { params: validatedBySdk }, (params, context) =>
    calls.call(params, context),
  );
  server.setRequestHandler('resources/list', () => handle(() => resources.list()));
  server.setRequestHandler('resources/templates/list', () =>
    handle(() => resources.listTemplates()),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    handle(() => resources.read(params.uri, context)),
  );
  server.setRequestHandler('prompts/list', () => handle(() => prompts.list()));
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    handle(() => prompts.get(params, context)),
  );
  for (const { install } of raws) install?.(server);
  return mcp;
}

function capabilitiesOf(raws: readonly Raw[]): ServerCapabilities {
  const own: ServerCapabilities = { tools: {}, resources: {}, prompts: {} };
  return raws.reduce((all, { capabilities = {} }) => mergeCapabilities(all, capabilities), own);
}

/**
 * The SDK sends the message of any thrown error to the client. Only protocol errors are meant for clients;
 * others may contain internal details, so they are logged and replaced by a correlation id.
 */
export function hideInternalErrors(log: HostLog, scrub: Scrub) {
  return async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof ProtocolError) throw scrub.error(cause);
      const id = randomUUID();
      log('error', 'unexpected', { correlation_id: id, cause });
      const message = `Internal error; see the server log for correlation id ${id}.`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, message, { correlation_id: id });
    }
  };
}
