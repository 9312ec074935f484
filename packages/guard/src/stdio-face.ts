import type { Readable, Writable } from 'node:stream';
import { LineBuffer, parseInbound, findId } from '@toolkeel/host/parts';
import type { HostLog } from '@toolkeel/host';
import { frameOf, framesOf, type Frame, type Message } from './frame.js';
import { LineWriter } from './line-writer.js';
import type { Route } from './route.js';
import type { Client } from './session-options.js';

interface StdioFaceOptions {
  readonly stdin: Readable;
  /** The real stdout, also while it is guarded against other output. */
  readonly stdout: Writable;
  readonly log: HostLog;
  readonly open: (client: Client) => Route;
}

export interface StdioFace {
  /** Resolves when the client has disconnected. */
  readonly closed: Promise<void>;
  readonly session: Route;
  /** Writes what is still to be written. */
  readonly flush: () => void;
}

/** Serves one client on stdin and stdout. */
export function serveStdio({ stdin, stdout, log, open }: StdioFaceOptions): StdioFace {
  const lines = new LineBuffer();
  let isBlocked = false;
  let isClosed = false;
  let disconnected = (): void => {};
  const closed = new Promise<void>((resolve) => {
    disconnected = () => {
      isClosed = true;
      resolve();
    };
  });

  const writer = new LineWriter(stdout, () => {
    isBlocked = true;
    session.pauseUpstream();
  });
  const send: Client['send'] = ({ line }, written) => {
    if (isClosed) return written?.(false);
    writer.write(line, written);
  };
  const session = open({
    send,
    pause: () => void stdin.pause(),
    resume: () => void stdin.resume(),
  });

  const refuse = (response: object): void => {
    log('warn', 'transport_error', { message: 'refused a malformed message of the client' });
    send(frameOf(response as Message));
  };
  const receive = (frame: Frame): void => session.receive(frame);
  const handler = {
    line: (text: string): void => {
      const line = text.endsWith('\r') ? text.slice(0, -1) : text;
      const inbound = parseInbound(line, { isLenient: true });
      if (!inbound.ok) {
        if (line.trim() === '') return;
        const { refusal, expectsAnswer, batchIds } = inbound;
        if (batchIds.length > 0) return batchIds.forEach((id) => refuse({ ...refusal, id }));
        return expectsAnswer ? refuse(refusal) : undefined;
      }
      const { value } = inbound;
      if (Array.isArray(value)) return framesOf(value as Message[], line).forEach(receive);
      return receive({ message: value as Message, line });
    },
    tooLong: (head: string, tail: string): void => {
      const error = { code: -32_000, message: 'The request is too large.' };
      refuse({ jsonrpc: '2.0', id: findId(head, tail), error });
    },
  };
  stdin.on('data', (chunk: Buffer) => lines.add(chunk, handler));
  stdin.on('end', disconnected);
  stdin.on('close', disconnected);
  stdin.on('error', disconnected);
  stdout.on('error', disconnected);
  stdout.on('drain', () => {
    if (!isBlocked) return;
    isBlocked = false;
    session.resumeUpstream();
  });
  void closed.then(() => session.disconnect());
  return { closed, session, flush: writer.flush };
}
