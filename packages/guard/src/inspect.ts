import type { HostLog } from '@toolkeel/host';
import { frameOf, isResponse, objectIn, type Message } from './frame.js';
import { createGuard, type GuardSettings, type Upstream } from './guard.js';
import type { GuardedTool } from './tools.js';

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'toolkeel', version: '0.1.0' },
} as const;

/** A server as a guard sees it. */
export interface Inspection {
  /** As it introduces itself. */
  readonly server: { readonly name: string; readonly version: string };
  readonly tools: readonly GuardedTool[];
  /** Where the server of the profile comes from; undefined if no profile applies. */
  readonly profile?: string;
  /** Why a profile, or an entry of it, does not apply. */
  readonly warnings: readonly string[];
}

/** Events that an operator has to know about. */
const WARNINGS: ReadonlySet<string> = new Set([
  'guard_profile_version_unknown',
  'guard_setting_unused',
  'guard_name_too_long',
  'guard_tools_changed',
]);
/** Of what a server wrote before it failed. */
const LAST_LINES = 50;
const TOLD_LINES = 3;
const TOLD_CHARS = 200;
const NAMES_A_CAUSE =
  /error|fail|cannot|can't|could not|not found|no such|missing|requi|denied|inval|usage/i;

/** Starts a server, lists its tools with the effects that a guard would apply, and ends it. */
export async function inspectUpstream(
  options: GuardSettings & Upstream,
  timeoutMs = 20_000,
): Promise<Inspection> {
  let profile: string | undefined;
  const warnings: string[] = [];
  const written = new Set<string>();
  const { scrub } = options.loaded.secrets;
  const log: HostLog = (_level, event, fields = {}) => {
    if (event === 'guard_profile') profile = String(fields['package']);
    if (event === 'upstream_stderr') {
      // A server that cannot be started is tried again, and writes the same.
      written.add(scrub(String(fields['text'])).trim().slice(0, TOLD_CHARS));
      for (const oldest of written) if (written.size > LAST_LINES) written.delete(oldest);
    }
    if (WARNINGS.has(event)) warnings.push(String(fields['message']));
    if (event === 'guard_profile_tool_changed') {
      const changed = `The profile of ${String(fields['tool_name'])} is not used: the tool has other arguments (${String(fields['arguments'])}).`;
      warnings.push(changed);
    }
  };
  const { chaos: _chaos, ...config } = options.config;
  const guard = createGuard({ ...options, config, isInspection: true, log });
  const waiting = new Map<unknown, (message: Message) => void>();
  try {
    const session = guard.open({
      send: (frame) => {
        if (isResponse(frame)) waiting.get(frame.message.id)?.(frame.message);
      },
      pause: () => {},
      resume: () => {},
    });
    const ask = (id: number, method: string, params: Message['params']): Promise<Message> =>
      new Promise((resolve, reject) => {
        const late = (): void => reject(new Error(`did not answer ${method} in time`));
        const timer = setTimeout(late, timeoutMs);
        waiting.set(id, (message) => {
          clearTimeout(timer);
          if (message.error) reject(new Error(message.error.message));
          else resolve(message);
        });
        session.receive(frameOf({ jsonrpc: '2.0', id, method, params: params ?? {} }));
      });
    const { result } = await ask(1, 'initialize', INITIALIZE);
    session.receive(frameOf({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    if (objectIn(result, 'capabilities')['tools'] !== undefined) {
      await ask(2, 'tools/list', {});
      await session.toolsListed();
    }
    const { name, version } = objectIn(result, 'serverInfo');
    const server = { name: String(name), version: String(version) };
    return { server, tools: guard.tools, warnings, ...(profile !== undefined && { profile }) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'cannot be started';
    const said = causesIn([...written]);
    throw new Error(said === '' ? reason : `${reason} It wrote: ${said}`, { cause });
  } finally {
    await guard.close();
  }
}

/** Servers write to stderr what they lack, among banners and stack traces. */
function causesIn(lines: readonly string[]): string {
  const named = lines.filter((line) => NAMES_A_CAUSE.test(line) && !line.startsWith('at '));
  return (named.length === 0 ? lines.slice(-TOLD_LINES) : named.slice(0, TOLD_LINES)).join(' / ');
}
