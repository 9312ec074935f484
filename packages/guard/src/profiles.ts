import type { HostLog } from '@toolkeel/host';
import * as z from 'zod';
import { toolRules, type ToolRules, type UpstreamConfig } from './config.js';
import { rulesFor, type ListedTool } from './effects.js';
import { errorRule } from './error-rules.js';
import { isObject } from './frame.js';
import known from './known-profiles.json' with { type: 'json' };
import { NO_PROFILE } from './pins.js';
import type { ServerInfo } from './server-info.js';
import { isInRange, VERSION_RANGE } from './versions.js';

const evidence = z
  .string()
  .min(10)
  .describe('What shows it: source, documentation, a repeated call.');

/** What is known about a server that people run: plain data, one file for each in `profiles`. */
export const profileSchema = z.strictObject({
  server: z.string().min(1).describe('The name in `serverInfo` of its handshake.'),
  versions: z
    .string()
    .regex(VERSION_RANGE)
    .describe('The versions in `serverInfo` that were examined: ">=0.6.3 <0.7.0".'),
  package: z.string().min(1).describe('Where the server comes from.'),
  examined: z.string().min(10).describe('What was run or read, with its version.'),
  tools: z.record(
    z.string(),
    toolRules.extend({
      arguments: z
        .array(z.string())
        .describe('Its arguments when it was examined. With others the entry is not used.'),
      evidence,
    }),
  ),
  errors: z
    .array(z.strictObject({ rule: errorRule, evidence }))
    .default([])
    .describe('What texts of its errors mean.'),
});

export type Profile = z.output<typeof profileSchema>;
type ProfiledTool = Profile['tools'][string];

export const knownProfiles: readonly Profile[] = known as unknown as readonly Profile[];

/** The settings for one tool, and what they are based on. */
export interface ToolConfig {
  readonly config: UpstreamConfig;
  /** Of the profile; undefined if the configuration or the annotations decide. */
  readonly evidence?: string;
  /** The same for the profile that applied when the tools were pinned, if it was another one. */
  readonly before?: Omit<ToolConfig, 'before'>;
}

/** What names a profile in the pins of an upstream. */
const keyOf = (profile: Profile | undefined): string =>
  profile ? `${profile.server} ${profile.versions}` : NO_PROFILE;

/** Applies the profile of a server, once it is known, below the settings of the operator. */
export class Profiles {
  readonly #options: ProfilesOptions;
  #profile: Profile | undefined;

  constructor(options: ProfilesOptions) {
    this.#options = options;
  }

  get profile(): Profile | undefined {
    return this.#profile;
  }

  /** What names the profile that applies. */
  get key(): string {
    return keyOf(this.#profile);
  }

  /** A server has introduced itself. True if another profile applies than before. */
  identify({ name, version }: ServerInfo): boolean {
    const before = this.#profile;
    this.#profile = this.#find(name, version);
    return before !== this.#profile;
  }

  #find(server: string, version: string): Profile | undefined {
    const { upstream, config, log, profiles = knownProfiles } = this.#options;
    // An untrusted server could claim any name.
    if (!config.profile || config.trust === 'none') return undefined;
    const named = profiles.filter((profile) => profile.server === server);
    const found = named.find(({ versions }) => isInRange(version, versions));
    if (found) log('info', 'guard_profile', { upstream, server, version, package: found.package });
    else if (named.length > 0) {
      const examined = named.map(({ versions }) => versions);
      log('warn', 'guard_profile_version_unknown', {
        upstream,
        server,
        version,
        examined,
        message: `The profile of ${server} is not used: it was made for ${examined.join(', ')}. Only annotations and the configuration decide.`,
      });
    }
    return found;
  }

  /**
   * The settings of a tool. `bareName` is the name that the server uses, `pinned` the key of the profile that
   * applied when its tools were pinned.
   */
  forTool(listed: ListedTool, bareName: string, pinned?: string): ToolConfig {
    const { config, profiles = knownProfiles } = this.#options;
    const now = this.#configFor(this.#profile, listed, bareName);
    const isUsed = config.profile && config.trust !== 'none';
    if (!isUsed || pinned === undefined || pinned === this.key) return now;
    const profile = profiles.find((one) => keyOf(one) === pinned);
    // A profile that does not exist any more says nothing.
    if (!profile && pinned !== keyOf(undefined)) return now;
    return { ...now, before: this.#configFor(profile, listed, bareName) };
  }

  #configFor(
    profile: Profile | undefined,
    listed: ListedTool,
    bareName: string,
  ): Omit<ToolConfig, 'before'> {
    const { upstream, config, log } = this.#options;
    const tools = profile?.tools;
    const entry = tools && Object.hasOwn(tools, bareName) ? tools[bareName] : undefined;
    if (!entry) return { config };
    const others = unknownArguments(listed, entry);
    if (others.length > 0) {
      log('warn', 'guard_profile_tool_changed', {
        upstream,
        tool_name: bareName,
        arguments: others,
      });
      return { config };
    }
    const own = rulesFor(listed.name, config.tools);
    const decidesEffect = own?.effect !== undefined || own?.when !== undefined;
    const prefix = listed.name.slice(0, listed.name.length - bareName.length);
    const merged = mergeRules(entry, own, prefix);
    return {
      config: { ...config, tools: { [listed.name]: merged } },
      ...(!decidesEffect && { evidence: entry.evidence }),
    };
  }
}

interface ProfilesOptions {
  readonly upstream: string;
  readonly config: UpstreamConfig;
  readonly log: HostLog;
  readonly profiles?: readonly Profile[];
}

/** Arguments that the tool did not have when it was examined: they may change what a call does. */
function unknownArguments({ inputSchema }: ListedTool, { arguments: examined }: ProfiledTool) {
  const properties = inputSchema?.['properties'];
  const names = isObject(properties) ? Object.keys(properties) : [];
  return names.filter((name) => !examined.includes(name));
}

/** The operator's settings override each of the profile's; an effect also overrides those by argument. */
function mergeRules(
  { arguments: _arguments, evidence: _evidence, effect, when, reconcile, ...entry }: ProfiledTool,
  own: ToolRules | undefined,
  prefix: string,
): ToolRules {
  const decidesEffect = own?.effect !== undefined || own?.when !== undefined;
  return {
    ...(!decidesEffect && { effect, when }),
    ...(reconcile && { reconcile: { ...reconcile, tool: prefix + reconcile.tool } }),
    ...entry,
    ...own,
  };
}
