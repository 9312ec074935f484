import {
  McpServer,
  mergeCapabilities,
  type CallToolRequest,
  type Implementation,
  type ListToolsResult,
  type ServerCapabilities,
  type ServerOptions,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { ToolTable } from '../catalog/tools.js';
import type { Prompts } from './prompts.js';
import type { Raw } from './raw.js';
import type { Resources } from './resources.js';
import type { ToolCalls } from './tools.js';

/** What servers of this host have in common: everything but the connection. */
export interface Surface {
  readonly info: Implementation;
  readonly instructions?: string | undefined;
  readonly tools: ToolTable;
  readonly calls: ToolCalls;
  readonly resources: Resources;
  readonly prompts: Prompts;
  readonly raws: readonly Raw[];
  /** Lets only errors out that were meant for the client. */
  readonly answer: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Lists do not change while a process lives, and are the same for everybody. */
const CACHE = { ttlMs: 60_000, cacheScope: 'private' } as const;

/**
 * The SDK checks every call before it asks for a handler, and a handler without a schema of its own
 * would have it checked once more: a tenth of what a quick call takes.
 */
const checkedBySdk: StandardSchemaV1<CallToolRequest['params']> = {
  '~standard': {
    version: 1,
    vendor: 'toolkeel',
    validate: (value) => ({ value: value as CallToolRequest['params'] }),
  },
};

let sharedValidator: AjvJsonSchemaValidator | undefined;
/** The SDK would make one for every server, and over HTTP that is one for every request. */
const validator: NonNullable<ServerOptions['jsonSchemaValidator']> = {
  getValidator: (schema) => (sharedValidator ??= new AjvJsonSchemaValidator()).getValidator(schema),
};

/**
 * A server for one connection, or for one request where there are no connections. The handlers are
 * set on the low-level server: the tools, their schemas and their listing are made once for all.
 */
export function makeServer(surface: Surface): McpServer {
  const { info, instructions, tools, calls, resources, prompts, raws, answer } = surface;
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
  server.setRequestHandler('tools/call', { params: checkedBySdk }, (params, context) =>
    calls.call(params, context),
  );
  server.setRequestHandler('resources/list', () => answer(() => resources.list()));
  server.setRequestHandler('resources/templates/list', () =>
    answer(() => resources.listTemplates()),
  );
  server.setRequestHandler('resources/read', ({ params }, context) =>
    answer(() => resources.read(params.uri, context)),
  );
  server.setRequestHandler('prompts/list', () => answer(() => prompts.list()));
  server.setRequestHandler('prompts/get', ({ params }, context) =>
    answer(() => prompts.get(params, context)),
  );
  for (const { install } of raws) install?.(server);
  return mcp;
}

function capabilitiesOf(raws: readonly Raw[]): ServerCapabilities {
  const own: ServerCapabilities = { tools: {}, resources: {}, prompts: {} };
  return raws.reduce((all, { capabilities = {} }) => mergeCapabilities(all, capabilities), own);
}
