import { afterEach } from 'vitest';
import { startStacSandbox, type StacSandbox, type StacSandboxOptions } from '@toolkeel/sandbox';

const open: StacSandbox[] = [];

/** Starts a sandbox that is closed after the test. */
export async function sandbox(options: StacSandboxOptions = {}): Promise<StacSandbox> {
  const started = await startStacSandbox(options);
  open.push(started);
  return started;
}

/** A small catalogue, for tests that do not depend on it. */
export const tiny = (options: StacSandboxOptions = {}): Promise<StacSandbox> =>
  sandbox({ scale: 0.02, ...options });

export const closeSandboxesAfterEach = (): void => {
  afterEach(async () => {
    await Promise.all(open.splice(0).map((started) => started.close()));
  });
};
