import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { type Answer, type Governed, loginTo, type ServeOptions, useGoverned } from './governed.js';
import type { Config } from './rig.js';

export type Data = Readonly<Record<string, unknown>>;

interface WorldOptions extends Partial<Omit<ServeOptions, 'config'>> {
  readonly workflow?: Config['workflow'];
}

/** Servers of the workflow profile with sandboxes of X, closed with the suite. */
export function useWorkflowWorld() {
  const { newFolder, onClose, start } = useGoverned();
  const sandbox = async (): Promise<XSandbox> => {
    const made = await startXSandbox({ tier: 'enterprise', duplicateWindowMs: 0 });
    onClose(() => made.close());
    return made;
  };
  const world = async ({ workflow, ...more }: WorldOptions = {}) => {
    const upstream = await sandbox();
    const folder = more.folder ?? (await newFolder());
    const login = loginTo(upstream, workflow ? { workflow } : {});
    const server = await start({
      profile: 'workflow',
      ...login,
      folder,
      journal: { pollMs: 20 },
      ...more,
    });
    return { upstream, folder, server, login };
  };
  return { newFolder, onClose, start, sandbox, world };
}

export const soon = { timeout: 30_000, interval: 20 };
export const autopilot = { mode: 'autopilot', template: 'open' } as const;
export const composer = { mode: 'composer' } as const;

export const data = (answer: Answer): Data => {
  if (!answer.success) throw new Error(JSON.stringify(answer.error));
  return answer.data;
};
export const codeOf = (answer: Answer): string => (answer.success ? 'ok' : answer.error.code);

/** Approves or rejects as an operator who has seen the call. */
export const decide = async (server: Governed, id: string, decision: 'approve' | 'reject') => {
  const { approval } = (await server.approvals.show(id))!;
  await server.approvals[decision](id, { hash: approval!.hash, by: 'ana' });
};

export const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
/** Long enough for the next calls, on a busy machine too. */
export const LATER_MS = 3_600_000;

/** Composes or updates a draft for a time that is still ahead when the server reads it, on a busy machine too. */
export async function scheduleSoon(
  server: Governed,
  draft: object,
  tool = 'compose_tweet',
): Promise<{ readonly draft: Data; readonly scheduled_for: string }> {
  for (let ahead = 1000; ; ahead *= 2) {
    const scheduled_for = inMs(ahead);
    const answer = await server.call(tool, { ...draft, scheduled_for });
    const isLate = !answer.success && /past|passed/.test(answer.error.message);
    if (!isLate) return { draft: data(answer), scheduled_for };
  }
}

export const listed = async (server: Governed): Promise<readonly Data[]> =>
  data(await server.call('list_drafts'))['drafts'] as readonly Data[];
