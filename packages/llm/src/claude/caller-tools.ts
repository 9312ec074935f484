import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import type { TextTool } from '@toolkeel/contract';

const SERVER = 'caller';
const PREFIX = `mcp__${SERVER}__`;

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}

interface McpTransport {
  readonly send: (message: object) => Promise<void>;
}

/**
 * The caller's tools as an MCP server inside of this process, the only way to tell the CLI about tools. It
 * lists them and runs none: the CLI may not call them, so the calls of the model are left to the caller.
 */
export function callerTools(
  tools: readonly TextTool[],
): Readonly<Record<string, McpSdkServerConfigWithInstance>> {
  const listed = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: { ...parameters, type: 'object' },
    // Otherwise the CLI may hide it behind a search of its own.
    _meta: { 'anthropic/alwaysLoad': true },
  }));
  const answer = ({ method, params }: Message): object => {
    if (method === 'tools/list') return { tools: listed };
    if (method !== 'initialize') return {};
    const serverInfo = { name: SERVER, version: '1.0.0' };
    const { protocolVersion } = params ?? {};
    return { protocolVersion, capabilities: { tools: {} }, serverInfo };
  };
  const instance = {
    connect: (transport: McpTransport): Promise<void> => {
      const onmessage = (message: Message): void => {
        const { id } = message;
        if (id === undefined) return;
        // The CLI may have ended meanwhile.
        transport.send({ jsonrpc: '2.0', id, result: answer(message) }).catch(() => undefined);
      };
      Object.assign(transport, { onmessage });
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  // The SDK uses no more of its server class than this.
  return { [SERVER]: { type: 'sdk', name: SERVER, instance: instance as never } };
}

/** The caller's name of a tool. */
export const callerToolName = (name: string): string =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
