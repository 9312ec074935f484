import { faultFromText, latencyFromText, UsageError } from '../faults/rules.js';
import { drawByFrom, wholeNumber, type Flag } from '../flags.js';
import { flavours, type Flavour } from './flavours.js';
import type { StacSandboxOptions } from './sandbox.js';

export const stacFlags: readonly Flag[] = [
  {
    flag: '--port <number>',
    description: 'port of the API on 127.0.0.1 (default: any)',
    isExclusive: true,
  },
  {
    flag: '--assets-port <number>',
    description: 'port of the assets, where they are elsewhere',
    isExclusive: true,
  },
  {
    flag: '--control-port <number>',
    description: 'port of the control endpoint',
    isExclusive: true,
  },
  { flag: '--seed <number>', description: 'decides the catalogue and all faults (default: 1)' },
  { flag: '--scale <number>', description: 'size of the catalogue; 1 is a few thousand items' },
  { flag: '--flavour <name>', description: `one of ${Object.keys(flavours).join(', ')}` },
  { flag: '--fault <rule...>', description: 'such as 20%:http-503@search;retry-after=2' },
  { flag: '--latency <shape...>', description: 'such as 200, p95=200,sigma=0.5 or search:p95=400' },
  { flag: '--draw-by <what>', description: 'arrival or request: what luck depends on' },
  { flag: '--require-header <header>', description: 'such as "X-Api-Key: secret"' },
];

export interface StacFlagValues {
  readonly port?: string;
  readonly assetsPort?: string;
  readonly controlPort?: string;
  readonly seed?: string;
  readonly scale?: string;
  readonly flavour?: string;
  readonly fault?: readonly string[];
  readonly latency?: readonly string[];
  readonly drawBy?: string;
  readonly requireHeader?: string;
}

/** Options from what a command line said. Throws a {@link UsageError} that names what is wrong. */
export function stacOptionsFromFlags(values: StacFlagValues): StacSandboxOptions {
  const { flavour, drawBy, requireHeader, fault, latency } = values;
  return {
    ...wholeNumber(values, 'port', 0, 65_535),
    ...wholeNumber(values, 'assetsPort', 0, 65_535),
    ...wholeNumber(values, 'controlPort', 0, 65_535),
    ...wholeNumber(values, 'seed', 0, Number.MAX_SAFE_INTEGER),
    ...(values.scale !== undefined && { scale: scaleFrom(values.scale) }),
    ...(flavour !== undefined && { flavour: flavourFrom(flavour) }),
    ...(drawBy !== undefined && { drawBy: drawByFrom(drawBy) }),
    ...(requireHeader !== undefined && { requiredHeader: headerFrom(requireHeader) }),
    ...(fault && { faults: fault.map(faultFromText) }),
    ...(latency && { latency: latencyFromText(latency) }),
  };
}

function scaleFrom(text: string): number {
  const scale = Number(text);
  if (!(scale > 0 && scale <= 20))
    throw new UsageError(`scale "${text}" is not above 0 and up to 20`);
  return scale;
}

function flavourFrom(text: string): Flavour {
  const known = Object.keys(flavours) as Flavour[];
  const flavour = known.find((name) => name === text);
  if (!flavour) throw new UsageError(`flavour "${text}" is not one of ${known.join(', ')}`);
  return flavour;
}

function headerFrom(text: string): { name: string; value: string } {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.+)$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`require-header "${text}" does not look like "Name: value"`);
  return { name, value };
}
