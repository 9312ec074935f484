import { ProgressLine } from '../../cli/progress.js';
import { UsageError } from '../../cli/usage.js';
import { painter } from '../../report/terminal.js';
import { exitCodeOf, stacObjectives } from '../judge/index.js';
import { renderHtml } from '../report/html.js';
import { renderJson } from '../report/json.js';
import { renderPage } from '../report/page.js';
import type { Report } from '../report/report.js';
import { renderTerminal } from '../report/terminal.js';
import type { ServerOptions } from '../rig/server.js';
import { DrillError } from '../drill-error.js';
import { runDrill } from '../run/drill.js';
import { readArgs, type Options } from './args.js';
import { help } from './help.js';

/** What the command is connected to. */
export interface Io {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Somebody is looking at `out`, or at `err`. */
  readonly colours: boolean;
  readonly progress: boolean;
  readonly write: (file: string, text: string) => void;
  /** Throws if a file could not be written. */
  readonly probe: (file: string) => void;
  /** How a server with the STAC tools is started. */
  readonly server: ServerOptions['command'];
}

/** The command. Gives its exit code. */
export async function drillStac(args: readonly string[], io: Io): Promise<number> {
  try {
    const options = readArgs(args);
    if (options.help) io.out(help);
    return options.help ? 0 : await perform(options, io);
  } catch (error) {
    if (error instanceof DrillError) {
      io.err(`${error.message}\n`);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    io.err(`${error.message}\n\nnpm run drill:stac -- --help says what can be asked for.\n`);
    return 2;
  }
}

async function perform(options: Options, io: Io): Promise<number> {
  const { json, html, markdown } = options;
  for (const file of [json, html, markdown]) if (file !== undefined) probe(file, io);
  const line = new ProgressLine(io.progress ? io.err : undefined);
  const begun = performance.now();
  const runs = await runDrill({
    ...options,
    command: io.server,
    onProgress: (text) => line.show(text),
  }).finally(() => line.clear());
  const report: Report = {
    ...options,
    runs,
    objectives: stacObjectives(runs),
    tookMs: performance.now() - begun,
  };
  io.out(renderTerminal(report, painter(io.colours)));
  if (json !== undefined) io.write(json, renderJson(report));
  if (html !== undefined) io.write(html, renderHtml(report));
  if (markdown !== undefined) io.write(markdown, renderPage(report));
  return exitCodeOf(report.objectives);
}

/** Nobody should learn after a quarter of an hour that the folder does not exist. */
function probe(file: string, io: Io): void {
  try {
    io.probe(file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UsageError(`${file} cannot be written: ${why}`, { cause });
  }
}
