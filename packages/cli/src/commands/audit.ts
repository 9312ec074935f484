import { readMoment } from '@toolkeel/host';
import type { AuditExport, AuditHead, JournalStore } from '@toolkeel/journal';
import { UsageError } from '../errors.js';
import { escapeControls, pretty } from '../operator/format.js';
import { openAuditStore, type OperatorFlags } from '../operator/journal.js';
import type { RuntimeContext } from '../runtime.js';

export interface VerifyFlags extends OperatorFlags {
  readonly expect?: string;
}

export interface ExportFlags extends OperatorFlags {
  readonly format?: string;
  readonly since?: string;
  readonly until?: string;
}

/** The head of an empty chain. */
const EMPTY_HEAD: AuditHead = { seq: 0, hash: '0'.repeat(64) };

/** Prints the head of the chain, to be stored outside of the journal. */
export async function auditHead(flags: OperatorFlags, runtime: RuntimeContext): Promise<number> {
  return withStore(flags, runtime, async (store) => {
    const head = (await store.auditHead()) ?? EMPTY_HEAD;
    runtime.stdout.write(flags.json ? `${pretty(head)}\n` : `${head.seq}:${head.hash}\n`);
    return 0;
  });
}

/** Returns 1 if a row was altered, removed or truncated. */
export async function verifyAudit(flags: VerifyFlags, runtime: RuntimeContext): Promise<number> {
  const expect = flags.expect === undefined ? undefined : parseHead(flags.expect);
  const { readAudit, verifyAudit: verify } = await import('@toolkeel/journal');
  return withStore(flags, runtime, async (store) => {
    const report = await verify(readAudit(store), { ...(expect && { expect }) });
    const { rows, head = EMPTY_HEAD, problems, problemCount } = report;
    const { write } = runtime.stdout;
    if (flags.json) write(`${pretty({ ok: problemCount === 0, ...report, head })}\n`);
    else {
      for (const { kind, message } of problems) write(`${kind}: ${escapeControls(message)}\n`);
      const summary =
        problemCount === 0 ? `${rows} rows, all valid` : `${problemCount} problems in ${rows} rows`;
      write(`${summary}; the chain ends at ${head.seq}:${head.hash}\n`);
    }
    return problemCount === 0 ? 0 : 1;
  });
}

export async function exportAudit(flags: ExportFlags, runtime: RuntimeContext): Promise<number> {
  const options = parseExport(flags);
  const { exportAudit: lines, readAudit } = await import('@toolkeel/journal');
  return withStore(flags, runtime, async (store) => {
    for await (const line of lines(readAudit(store), options)) runtime.stdout.write(line);
    return 0;
  });
}

async function withStore(
  flags: OperatorFlags,
  runtime: RuntimeContext,
  work: (store: JournalStore) => Promise<number>,
): Promise<number> {
  const store = await openAuditStore(flags, runtime);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function parseHead(text: string): AuditHead {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) {
    throw new UsageError('--expect must be the output of "toolkeel audit head": SEQ:HASH.');
  }
  return { seq: Number(seq), hash };
}

function parseExport({ format = 'jsonl', since, until }: ExportFlags): AuditExport {
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
