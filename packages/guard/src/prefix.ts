import type { ToolRules, UpstreamConfig } from './config.js';
import type { ErrorRule } from './error-rules.js';
import {
  frameOf,
  isObject,
  isRequest,
  isResponse,
  objectIn,
  type Frame,
  type Id,
} from './frame.js';
import type { Connect } from './link.js';

type Members = Readonly<Record<string, unknown>>;

/** The prefix of an upstream among several: hosts accept only these characters in the name of a tool. */
export function prefixOf(name: string, { prefix }: Pick<UpstreamConfig, 'prefix'>): string {
  return prefix ?? `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_`;
}

/** The settings of an upstream for its tools as clients see them. */
export function prefixConfig(config: UpstreamConfig, prefix: string): UpstreamConfig {
  const { tools, include, exclude, errors } = config;
  const shown = (names: readonly string[]): string[] => names.map((name) => prefix + name);
  return {
    ...config,
    tools: prefixRules(tools, prefix),
    ...(include && { include: shown(include) }),
    exclude: shown(exclude),
    errors: prefixErrors(errors, prefix),
  };
}

/** The same for rules about errors. */
export function prefixErrors(rules: readonly ErrorRule[], prefix: string): ErrorRule[] {
  return rules.map((rule) =>
    rule.tools ? { ...rule, tools: rule.tools.map((name) => prefix + name) } : rule,
  );
}

function prefixRules(tools: UpstreamConfig['tools'], prefix: string): UpstreamConfig['tools'] {
  const entries = Object.entries(tools).map(([name, rules]): [string, ToolRules] => {
    const { reconcile } = rules;
    if (!reconcile) return [prefix + name, rules];
    return [
      prefix + name,
      { ...rules, reconcile: { ...reconcile, tool: prefix + reconcile.tool } },
    ];
  });
  return Object.fromEntries(entries);
}

const LISTS: Readonly<Record<string, string>> = Object.freeze({
  'tools/list': 'tools',
  'prompts/list': 'prompts',
});

/**
 * Renames the tools and prompts of an upstream on its connection, so that everything else in the guard
 * knows them only by the names that clients see.
 */
export function withPrefix(connect: Connect, prefix: string): Connect {
  if (prefix === '') return connect;
  const bare = (name: unknown): unknown =>
    typeof name === 'string' && name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return (events) => {
    const listings = new Map<Id, string>();
    const outgoing = (frame: Frame): Frame => {
      const { message } = frame;
      const { method = '', params = {} } = message;
      const member = LISTS[method];
      if (member !== undefined && isRequest(frame)) listings.set(frame.message.id, member);
      if (method === 'tools/call' || method === 'prompts/get') {
        return frameOf({ ...message, params: { ...params, name: bare(params['name']) } }, frame);
      }
      const ref = objectIn(params, 'ref');
      if (method !== 'completion/complete' || ref['type'] !== 'ref/prompt') return frame;
      const renamed = { ...ref, name: bare(ref['name']) };
      return frameOf({ ...message, params: { ...params, ref: renamed } }, frame);
    };
    const incoming = (frame: Frame): Frame => {
      if (!isResponse(frame)) return frame;
      const { message } = frame;
      const member = listings.get(message.id);
      if (member === undefined) return frame;
      listings.delete(message.id);
      const items = message.result?.[member];
      if (!Array.isArray(items)) return frame;
      const renamed = (items as readonly unknown[]).map((item) => withName(item, prefix));
      return frameOf({ ...message, result: { ...message.result, [member]: renamed } }, frame);
    };
    const link = connect({
      ...events,
      onFrame: (frame) => events.onFrame(incoming(frame)),
      onFailed: (id, fault) => {
        listings.delete(id);
        events.onFailed(id, fault);
      },
    });
    return { ...link, send: (frame, isMutation) => link.send(outgoing(frame), isMutation) };
  };
}

function withName(item: unknown, prefix: string): unknown {
  const name = isObject(item) ? item['name'] : undefined;
  return typeof name === 'string' ? { ...(item as Members), name: prefix + name } : item;
}
