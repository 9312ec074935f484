import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { findId, LineBuffer } from '@toolkeel/host/parts';
import type { HostLog } from '@toolkeel/host';
import { processRef, type ProcessRef } from '@toolkeel/journal';
import { endsWithin } from './ends-within.js';
import { parseLine } from './frame.js';
import { LineWriter } from './line-writer.js';
import type { Connect } from './link.js';
import { MARKER, ProcessTree } from './process-tree.js';

export interface ChildOptions {
  /** For the log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string | undefined;
  readonly log: HostLog;
  /** Redacts the secrets of its environment. */
  readonly scrub: (text: string) => string;
  /** Records running children, so that a later process can end them if this one is killed. */
  readonly register?: (child: ProcessRef, tree: ProcessTree) => ChildRegistration;
}

export interface ChildRegistration {
  /** The server has answered: behind a wrapper such as npx, its process exists by now. */
  readonly started: () => void;
  /** All of its processes have ended. */
  readonly ended: () => void;
}

/** How long a server may take to end after its stdin is closed, and after SIGTERM. */
const END_MS = 1000;
const TERMINATE_MS = 1000;
/** How long the system may take to end a process that was killed. */
const KILL_MS = 500;
const POLL_MS = 20;
/** Lines that are no JSON-RPC are logged up to this number, in a shortened form. */
const MAX_LOGGED_LINES = 20;
const MAX_TEXT = 1000;

/** Starts a server as a child process and speaks with it over its stdin and stdout. */
export function childLink(options: ChildOptions): Connect {
  const { name, command, args, env, cwd, log, scrub } = options;
  return ({ onFrame, onFailed, onClosed, onBlocked }) => {
    // A group of its own: a server behind npx or a shell is not the child itself.
    const marker = randomUUID();
    const child = spawn(command, [...args], {
      env: { ...env, [MARKER]: marker },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      ...(cwd !== undefined && { cwd }),
    });
    const { stdin, stdout, stderr, pid } = child;
    const self = processRef(pid ?? 0);
    const tree = new ProcessTree(self, [], marker);
    const registration = pid === undefined ? undefined : options.register?.(self, tree);
    let hasAnswered = false;
    const lines = new LineBuffer();
    let isOpen = true;
    let strayLines = 0;
    let failure: string | undefined;

    const handler = {
      line: (text: string): void => {
        const line = text.endsWith('\r') ? text.slice(0, -1) : text;
        const frames = parseLine(line);
        if (frames && !hasAnswered) {
          hasAnswered = true;
          registration?.started();
        }
        if (frames) return frames.forEach(onFrame);
        if (line.trim() === '' || ++strayLines > MAX_LOGGED_LINES) return;
        log('warn', 'upstream_stray_line', { upstream: name, text: shortened(line, scrub) });
      },
      tooLong: (head: string, tail: string): void => {
        const id = findId(head, tail);
        log('warn', 'upstream_response_too_large', { upstream: name, id });
        if (id !== null) onFailed(id, { kind: 'bad_response', sent: 'answered', final: true });
      },
    };
    stdout.on('data', (chunk: Buffer) => lines.add(chunk, handler));
    const stderrLines = new LineBuffer();
    const logStderr = (text: string): void => {
      if (text.trim() !== '')
        log('info', 'upstream_stderr', { upstream: name, text: shortened(text, scrub) });
    };
    // The buffer has cut such a line, maybe through a secret that cannot be recognised any more.
    const tooLong = (): void => logStderr('[a line that is too long]');
    stderr.on('data', (chunk: Buffer) => stderrLines.add(chunk, { line: logStderr, tooLong }));
    // A broken pipe is reported by `exit`.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
    stdin.on('drain', () => onBlocked(false));
    const writer = new LineWriter(stdin, () => onBlocked(true));

    let ending: Promise<void> | undefined;
    /** Ends what is left of the server, and its record if nothing is left. */
    const endAll = (): Promise<void> =>
      (ending ??= endTree(child, tree).then((isOver) => {
        if (isOver) registration?.ended();
      }));
    const closed = new Promise<void>((resolve) => {
      const end = (reason: string): void => {
        if (!isOpen) return;
        isOpen = false;
        // A wrapper that was killed leaves the server behind, with its pipes.
        stdin.destroy();
        void endAll();
        resolve();
        onClosed(reason);
      };
      child.on('error', (cause) => {
        failure = `could not be started: ${cause.message}`;
        if (pid === undefined) end(failure);
      });
      // `close` follows `exit` once the output is read, unless a grandchild keeps the pipes open.
      child.on('close', (code, signal) => end(failure ?? reasonOf(code, signal)));
      child.on('exit', (code, signal) => {
        setTimeout(() => end(reasonOf(code, signal)), DRAIN_MS).unref();
      });
    });

    return {
      send: ({ line }) => {
        if (!isOpen || child.exitCode !== null || child.signalCode !== null || !stdin.writable) {
          throw new Error('the upstream is not running');
        }
        writer.write(line);
      },
      pause: () => void stdout.pause(),
      resume: () => void stdout.resume(),
      close: () => {
        writer.flush();
        // Before their parents end, and with them the way to find them.
        tree.look();
        return endChild(child, endAll, closed);
      },
    };
  };
}

/** Redacts before it cuts: the rest of a secret would not be recognised. */
export function shortened(text: string, scrub: (text: string) => string): string {
  return text.length > MAX_TEXT ? scrub(text).slice(0, MAX_TEXT) : text;
}

/** How long after the exit of a child its remaining output is read. */
const DRAIN_MS = 200;

function reasonOf(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null ? `exited with code ${code ?? 0}` : `was ended by ${signal}`;
}

/** Closes stdin, as the protocol says, then ends all processes of the server. */
async function endChild(
  child: ChildProcess,
  endAll: () => Promise<void>,
  closed: Promise<void>,
): Promise<void> {
  child.stdin?.end();
  child.stdout?.resume();
  await endsWithin(closed, END_MS);
  await endAll();
  await endsWithin(closed, TERMINATE_MS);
}

/**
 * Ends what is left of a server: its process group, also after the end of the child, which may be a
 * wrapper, and processes that have left the group. True if nothing is left.
 */
async function endTree(child: Pick<ChildProcess, 'pid'>, tree: ProcessTree): Promise<boolean> {
  const signal = (given: NodeJS.Signals | 0): boolean => {
    const isGroupAlive = signalGroup(child, given);
    return tree.signal(given) || isGroupAlive;
  };
  const isOverWithin = async (ms: number): Promise<boolean> => {
    const until = Date.now() + ms;
    while (Date.now() < until) {
      if (!signal(0)) return true;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return false;
  };
  tree.look();
  if (!signal('SIGTERM') || (await isOverWithin(TERMINATE_MS))) return true;
  tree.look();
  signal('SIGKILL');
  return isOverWithin(KILL_MS);
}

/** False if the process and its group have ended already. 0 only asks. */
export function signalGroup(
  { pid }: Pick<ChildProcess, 'pid'>,
  signal: NodeJS.Signals | 0,
): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    return false;
  }
}
