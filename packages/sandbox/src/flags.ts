import type { DrawBy } from './faults/injector.js';
import { faultFromText, latencyFromText, UsageError } from './faults/rules.js';
import { flavours, type Flavour } from './stac/flavours.js';
import type { LlmSandboxOptions } from './llm/sandbox.js';
import type { StacSandboxOptions } from './stac/sandbox.js';
import type { Tier } from './x/api/call.js';
import type { GithubSandboxOptions } from './github/sandbox.js';
import type { XSandboxOptions } from './x/sandbox.js';

export interface Flag {
  /** As option parsers declare it: `--seed <number>`; three dots if it may be repeated. */
  readonly flag: string;
  readonly description: string;
  /** Two sandboxes cannot share the value, for example a port. */
  readonly isExclusive?: true;
}

/** The values of flags by their names in camel case, as option parsers return them. */
export type FlagValues = Readonly<Record<string, unknown>>;

/** A flag, and the option that it sets if its name differs. */
interface FlagSpec extends Flag {
  readonly option?: string;
  readonly read: (value: never, name: string) => unknown;
}

type Read<Value> = (text: string, name: string) => Value;

const integer =
  (min: number, max: number): Read<number> =>
  (text, name) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new UsageError(`${name} "${text}" is not an integer from ${min} to ${max}`);
    return value;
  };

const oneOf =
  <Value extends string>(...known: readonly Value[]): Read<Value> =>
  (text, name) => {
    const value = known.find((one) => one === text);
    if (value === undefined)
      throw new UsageError(`${name} "${text}" is not one of ${known.join(', ')}`);
    return value;
  };

const text: Read<string> = (value) => value;

const port = (flag: string, description: string): FlagSpec => ({
  flag: `--${flag} <number>`,
  description,
  isExclusive: true,
  read: integer(0, 65_535),
});

const apiPort = port('port', 'port of the API on 127.0.0.1 (default: any)');
const controlPort = port('control-port', 'port of the control endpoint');

const seed = (description: string): FlagSpec => ({
  flag: '--seed <number>',
  description,
  read: integer(0, Number.MAX_SAFE_INTEGER),
});

const faults = (example: string): FlagSpec => ({
  flag: '--fault <rule...>',
  description: `such as ${example}`,
  option: 'faults',
  read: (rules: readonly string[]) => rules.map(faultFromText),
});

const latency: FlagSpec = {
  flag: '--latency <shape...>',
  description: 'such as 200, p95=200,sigma=0.5 or search:p95=400',
  read: latencyFromText,
};

const drawBy: FlagSpec = {
  flag: '--draw-by <what>',
  description: 'draw faults and latencies by arrival or by request',
  read: oneOf<DrawBy>('arrival', 'request'),
};

const stacSpecs: readonly FlagSpec[] = [
  apiPort,
  port('assets-port', 'port of the assets, for flavours that serve them from another origin'),
  controlPort,
  seed('seed of the catalogue and of all faults (default: 1)'),
  {
    flag: '--scale <number>',
    description: 'size of the catalogue; 1 is a few thousand items',
    read: (value: string) => {
      const scale = Number(value);
      if (scale > 0 && scale <= 20) return scale;
      throw new UsageError(`scale "${value}" is not above 0 and up to 20`);
    },
  },
  {
    flag: '--flavour <name>',
    description: `one of ${Object.keys(flavours).join(', ')}`,
    read: oneOf(...(Object.keys(flavours) as Flavour[])),
  },
  faults('20%:http-503@search;retry-after=2'),
  latency,
  drawBy,
  {
    flag: '--require-header <header>',
    description: 'such as "X-Api-Key: secret"',
    option: 'requiredHeader',
    read: (header: string) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.+)$/.exec(header) ?? [];
      if (name !== undefined && value !== undefined) return { name, value };
      throw new UsageError(`require-header "${header}" does not have the form "Name: value"`);
    },
  },
];

const DAY_MS = 24 * 60 * 60_000;

const xSpecs: readonly FlagSpec[] = [
  apiPort,
  controlPort,
  seed('seed of users, posts and all faults (default: 1)'),
  {
    flag: '--tier <name>',
    description: 'self_serve or enterprise (default: self_serve)',
    read: oneOf<Tier>('self_serve', 'enterprise'),
  },
  { flag: '--client-id <id>', description: 'the app that tokens are issued to', read: text },
  {
    flag: '--client-secret <secret>',
    description: 'make the app a confidential client',
    read: text,
  },
  {
    flag: '--credits <dollars>',
    description: 'credits of the account (default: unlimited)',
    read: (value: string) => {
      if (/^\d+(?:\.\d+)?$/.test(value)) return Number(value);
      throw new UsageError(`credits "${value}" is not an amount of dollars`);
    },
  },
  {
    flag: '--lag <ms>',
    description: 'how far reads lag behind writes (default: 0)',
    option: 'lagMs',
    read: integer(0, DAY_MS),
  },
  faults('20%:acted-http-503@create-post'),
  latency,
  drawBy,
];

const githubSpecs: readonly FlagSpec[] = [
  apiPort,
  controlPort,
  seed('seed of tokens and all faults (default: 1)'),
  {
    flag: '--flavour <name>',
    description: 'github.com or ghes (default: github.com)',
    read: oneOf('github.com', 'ghes'),
  },
  faults('20%:acted-http-502@create-comment'),
  latency,
  drawBy,
];

const llmSpecs: readonly FlagSpec[] = [
  apiPort,
  controlPort,
  seed('seed of all faults (default: 1)'),
  {
    flag: '--token-delay <ms>',
    description: 'pause between two events of a stream (default: 0)',
    option: 'tokenDelayMs',
    read: integer(0, 60_000),
  },
  faults('20%:llm-stall-mid-stream@gemini-stream'),
  latency,
  drawBy,
];

const flagsOf = (specs: readonly FlagSpec[]): readonly Flag[] =>
  specs.map(({ flag, description, isExclusive }) => ({
    flag,
    description,
    ...(isExclusive && { isExclusive }),
  }));

/** Reads the options from a command line. Throws a {@link UsageError} that names the invalid flag. */
const readerOf =
  <Options extends object>(specs: readonly FlagSpec[]) =>
  (values: FlagValues): Options =>
    Object.fromEntries(
      specs.flatMap(({ flag, option, read }) => {
        const name = nameOf(flag);
        const value = values[name];
        return value === undefined ? [] : [[option ?? name, read(value as never, name)]];
      }),
    ) as Options;

/** `--control-port <number>` is `controlPort`. */
function nameOf(flag: string): string {
  const [word = ''] = flag.slice(2).split(' ');
  return word.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export const stacFlags = flagsOf(stacSpecs);
export const xFlags = flagsOf(xSpecs);
export const githubFlags = flagsOf(githubSpecs);
export const llmFlags = flagsOf(llmSpecs);

export const stacOptionsFromFlags = readerOf<StacSandboxOptions>(stacSpecs);
export const xOptionsFromFlags = readerOf<XSandboxOptions>(xSpecs);
export const githubOptionsFromFlags = readerOf<GithubSandboxOptions>(githubSpecs);
export const llmOptionsFromFlags = readerOf<LlmSandboxOptions>(llmSpecs);
