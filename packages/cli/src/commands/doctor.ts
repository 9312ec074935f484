import { styleText } from 'node:util';
import { examine, type Finding } from '../doctor/examine.js';
import type { RuntimeContext } from '../surroundings.js';

export interface DoctorFlags {
  readonly config?: string;
  readonly json?: boolean;
}

const LABEL = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;
const STYLE = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** Says what is wrong with an installation and what to do about it; 1 where something is. */
export async function doctor(
  { config, json }: DoctorFlags,
  runtime: RuntimeContext,
): Promise<number> {
  const { stdout } = runtime;
  const findings = await examine(config, runtime);
  const ok = findings.every(({ status }) => status !== 'fail');
  stdout.write(
    json ? `${JSON.stringify({ ok, findings }, null, 2)}\n` : report(findings, stdout.colours),
  );
  return ok ? 0 : 1;
}

function report(findings: readonly Finding[], colours: boolean): string {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const label = (status: Finding['status']): string =>
    colours ? styleText(STYLE[status], LABEL[status], { validateStream: false }) : LABEL[status];
  const lines = findings.flatMap(({ status, what, detail, advice }) => [
    `${label(status)}  ${what.padEnd(width)}  ${detail}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 8)}${advice}`]),
  ]);
  const count = (wanted: Finding['status']): number =>
    findings.filter(({ status }) => status === wanted).length;
  const [failed, warned] = [count('fail'), count('warn')];
  const verdict =
    failed + warned === 0 ? 'All is well.' : `${failed} to repair, ${warned} to know of.`;
  return `${[...lines, '', verdict].join('\n')}\n`;
}
