import { readMoment } from '@toolkeel/host';
import type { AuditExport, AuditHead, JournalStore } from '@toolkeel/journal';
import { openAuditStore, type OperatorFlags } from '../operator/journal.js';
import { escapeControls, pretty } from '../operator/format.js';
import type { RuntimeContext } from '../runtime.js';
import { UsageError } from '../errors.js';

export interface VerifyFlags extends OperatorFlags {
  readonly expect?: string;
}

export interface ExportFlags extends OperatorFlags {
  readonly format?: string;
  readonly since?: string;
  readonly until?: string;
}

/** What stands before the first row, for a chain that has none yet. */
const BEGINNING: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** The end of the chain, to be kept where nobody can change it. */
export async function auditHead(flags: OperatorFlags, around: RuntimeContext): Promise<number> {
  return withStore(flags, around, async (store) => {
    const head = (await store.auditHead()) ?? BEGINNING;
    around.stdout.write(flags.json ? `${pretty(head)}\n` : `${head.seq}:${head.hash}\n`);
    return 0;
  });
}

/** 1 where a row was altered, is missing or was cut off. */
export async function verifyAudit(flags: VerifyFlags, around: RuntimeContext): Promise<number> {
  const expect = flags.expect === undefined ? undefined : headOf(flags.expect);
  const { readAudit, verifyAudit: verify } = await import('@toolkeel/journal');
  return withStore(flags, around, async (store) => {
    const report = await verify(readAudit(store), { ...(expect && { expect }) });
    const { rows, head = BEGINNING, problems, problemCount } = report;
    const { write } = around.stdout;
    if (flags.json) write(`${pretty({ ok: problemCount === 0, ...report, head })}\n`);
    else {
      for (const { kind, message } of problems) write(`${kind}: ${escapeControls(message)}\n`);
      const verdict =
        problemCount === 0
          ? `${rows} rows, all in order`
          : `${problemCount} problems in ${rows} rows`;
      write(`${verdict}; the chain ends at ${head.seq}:${head.hash}\n`);
    }
    return problemCount === 0 ? 0 : 1;
  });
}

export async function exportAudit(flags: ExportFlags, around: RuntimeContext): Promise<number> {
  const wanted = exportOf(flags);
  const { exportAudit: lines, readAudit } = await import('@toolkeel/journal');
  return withStore(flags, around, async (store) => {
    for await (const line of lines(readAudit(store), wanted)) around.stdout.write(line);
    return 0;
  });
}

async function withStore(
  flags: OperatorFlags,
  around: RuntimeContext,
  work: (store: JournalStore) => Promise<number>,
): Promise<number> {
  const store = await openAuditStore(flags, around);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function headOf(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new UsageError('--expect must be what "toolkeel audit head" printed: SEQ:HASH.');
  }
  return { seq: Number(seq), hash };
}

function exportOf({ format = 'jsonl', since, until }: ExportFlags): AuditExport {
  if (format !== 'jsonl' && format !== 'csv') {
    throw new UsageError('--format must be jsonl or csv.');
  }
  try {
    const now = Date.now();
    return {
      format,
      ...(since !== undefined && { since: readMoment('--since', since, now) }),
      ...(until !== undefined && { until: readMoment('--until', until, now) }),
    };
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : '', { cause });
  }
}
