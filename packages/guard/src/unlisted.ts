import { toolError, type Arguments, type Tool } from '@toolkeel/contract';
import type { CallEngine } from '@toolkeel/host/parts';
import { responseTo } from './answers.js';
import type { Exchange } from './attempts.js';
import type { Frame, RequestFrame } from './frame.js';

interface RefusedCall {
  readonly engine: CallEngine;
  readonly tool: Tool;
  readonly args: Arguments;
  readonly request: RequestFrame;
  readonly exchange: Pick<Exchange, 'signal' | 'reason'>;
  /** The time limit of the call, if it has passed. */
  readonly expiredMs?: number | undefined;
}

const TIMEOUT_MS = 1000;
const LATE = 'The server was not ready, or had not listed its tools, within';

/**
 * Answers a call of a server whose tools were never listed, because it did not start or has none: neither
 * effects nor rules are known, so nothing is sent.
 */
export async function refuseUnlisted(call: RefusedCall): Promise<Frame> {
  const { engine, tool, args, request, exchange, expiredMs } = call;
  const { input } =
    expiredMs === undefined
      ? toolError('upstream_unavailable', `The server ${exchange.reason()}. Nothing was sent.`, {
          outcome: 'not_executed',
        })
      : toolError('timeout', `${LATE} ${expiredMs / 1000} s. Nothing was sent.`, {
          outcome: 'not_executed',
          details: { clock: 'deadline' },
        });
  const context = { mcpReq: { method: 'tools/call', signal: exchange.signal } };
  const run = await engine.runBegun(
    engine.begin(tool.name, TIMEOUT_MS, context, true),
    { spec: tool, load: () => tool, timeoutMs: TIMEOUT_MS, reportsEvents: true },
    args,
    context,
    () => ({ ok: false, error: input }),
  );
  return responseTo(request, run, undefined);
}
