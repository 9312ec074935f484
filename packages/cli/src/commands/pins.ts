import {
  acceptPins,
  pinnedUpstreams,
  pinState,
  readPins,
  type PinnedTool,
  type ToolDefinition,
} from '@toolkeel/guard';
import { loadConfig } from '@toolkeel/host';
import { UsageError } from '../errors.js';
import { escapeControls, pretty, table } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { lineDiff } from './line-diff.js';

export interface PinFlags {
  readonly config?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Pin extends PinnedTool {
  readonly upstream: string;
  readonly tool: string;
}

/** Lists the tools that differ from what was pinned. */
export async function listPins(flags: PinFlags, runtime: RuntimeContext): Promise<void> {
  const pins = pinsIn(dataDirOf(flags, runtime)).filter((pin) => flags.all === true || isOpen(pin));
  const { write } = runtime.stdout;
  if (flags.json) {
    const list = pins.map((pin) => ({ ...summaryOf(pin), pinned: pin.pinned, seen: pin.seen }));
    return write(`${pretty(list)}\n`);
  }
  if (pins.length === 0) return write('No tool differs from what was pinned.\n');
  const rows = pins.map((pin) => {
    const { upstream, tool, state, since } = summaryOf(pin);
    return [upstream, tool, state, since ?? ''];
  });
  write(table(['UPSTREAM', 'TOOL', 'STATE', 'SINCE'], rows, runtime));
}

/** Shows how tools differ from what was pinned. Returns 1 if some do. */
export async function diffPins(
  upstream: string | undefined,
  tools: readonly string[],
  flags: PinFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const pins = openPins(dataDirOf(flags, runtime), upstream, tools);
  const { write } = runtime.stdout;
  if (pins.length === 0) write('No tool differs from what was pinned.\n');
  for (const pin of pins) write(diffOf(pin));
  return pins.length === 0 ? 0 : 1;
}

/** Accepts how the server describes its tools now. A running guard notices it. */
export async function acceptChanges(
  upstream: string,
  tools: readonly string[],
  flags: PinFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const dataDir = dataDirOf(flags, runtime);
  const pins = openPins(dataDir, upstream, tools);
  const { write } = runtime.stdout;
  if (pins.length === 0) {
    write('No tool differs from what was pinned.\n');
    return 0;
  }
  for (const pin of pins) write(diffOf(pin));
  if (!flags.yes) {
    if (!runtime.isInteractive) throw new UsageError('Review the difference and add --yes.');
    const question = `Accept ${pins.length === 1 ? 'this tool' : `these ${pins.length} tools`}?`;
    if (!(await runtime.confirm(question))) return 1;
  }
  const names = pins.map(({ tool }) => tool);
  // The server may have changed them again while the operator was reading.
  const reviewed = Object.fromEntries(pins.map((pin) => [pin.tool, pin]));
  const accepted = acceptPins(dataDir, upstream, names, reviewed);
  if (accepted.length > 0) write(`Accepted: ${escapeControls(accepted.join(', '))}\n`);
  const others = names.filter((name) => !accepted.includes(name));
  if (others.length === 0) return 0;
  runtime.stderr.write(
    `Not accepted, because the server changed them again in the meantime: ${escapeControls(others.join(', '))}. Run the command again to see the difference.\n`,
  );
  return 1;
}

function dataDirOf({ config }: PinFlags, { env, cwd }: RuntimeContext): string {
  const only = ['dataDir'];
  return loadConfig({ env, cwd, only, ...(config !== undefined && { file: config }) }).dataDir;
}

function pinsIn(dataDir: string, only?: string): readonly Pin[] {
  const upstreams = only === undefined ? pinnedUpstreams(dataDir) : [only];
  return upstreams.flatMap((upstream) =>
    Object.entries(readPins(dataDir, upstream) ?? {}).map(([tool, pin]) => ({
      ...pin,
      upstream,
      tool,
    })),
  );
}

/** Those that an operator has to decide on. */
function openPins(
  dataDir: string,
  upstream: string | undefined,
  tools: readonly string[],
): readonly Pin[] {
  const known = pinnedUpstreams(dataDir);
  if (upstream !== undefined && !known.includes(upstream)) {
    const list = known.length === 0 ? 'none' : known.join(', ');
    throw new UsageError(`Nothing is pinned for "${upstream}". Upstreams with pins: ${list}.`);
  }
  const pins = pinsIn(dataDir, upstream);
  const unknown = tools.find((name) => !pins.some(({ tool }) => tool === name));
  if (unknown !== undefined) throw new UsageError(`No pinned tool is called "${unknown}".`);
  return pins.filter((pin) => isOpen(pin) && (tools.length === 0 || tools.includes(pin.tool)));
}

function isOpen(pin: PinnedTool): boolean {
  return pinState(pin) !== 'pinned';
}

function summaryOf(pin: Pin) {
  const { upstream, tool, pinnedAt, seenAt } = pin;
  const state = pinState(pin);
  return { upstream, tool, state, since: state === 'pinned' ? pinnedAt : seenAt };
}

function diffOf(pin: Pin): string {
  const { upstream, tool, pinned, seen } = pin;
  const title = `${upstream} ${tool}: ${pinState(pin)}\n`;
  return escapeControls(`${title}${lineDiff(readable(pinned), readable(seen ?? undefined))}\n`);
}

/** Descriptions have many lines; in JSON they would be one. */
function readable(definition: ToolDefinition | undefined): string {
  if (!definition) return '';
  return Object.entries(definition)
    .map(([member, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
      return text.includes('\n') ? `${member}:\n${indented(text)}` : `${member}: ${text}`;
    })
    .join('\n');
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}
