import type { JournalEvent, JournalOptions } from '@toolkeel/journal';
import type { HostLog, LogLevel } from '../log/log.js';
import type { Metrics } from '../metrics/metrics.js';

/** What a host gives to its journal. */
export type JournalDeps = Required<Pick<JournalOptions, 'tools' | 'observe' | 'report' | 'watch'>>;

const LEVELS: Readonly<Record<JournalEvent['type'], LogLevel>> = Object.freeze({
  operation_unknown: 'warn',
  operation_reconciled: 'info',
  approval_requested: 'info',
  approval_decided: 'info',
  idempotent_replay: 'debug',
});

/** Turns what a journal says into log lines and counters. */
export function journalHooks(
  log: HostLog,
  metrics: Pick<Metrics, 'replay'>,
): Pick<JournalDeps, 'observe' | 'report'> {
  return {
    observe: ({ type, operationId, tool, account, correlationId, result, by, elsewhere }) => {
      if (type === 'idempotent_replay') metrics.replay(tool);
      log(LEVELS[type], type, {
        correlation_id: correlationId,
        operation_id: operationId,
        tool_name: tool,
        account,
        ...(result !== undefined && { result }),
        ...(by !== undefined && { by }),
        ...(elsewhere && { elsewhere }),
      });
    },
    report: (cause, correlationId, about) =>
      log('error', about === 'notice' ? 'notice_failed' : 'journal_failed', {
        ...(correlationId !== undefined && { correlation_id: correlationId }),
        cause,
      }),
  };
}
