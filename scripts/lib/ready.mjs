import { compile } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { withProgress } from './progress.mjs';

/** Everything a command needs before its own work: dependencies installed, packages compiled. */
export const ready = async () => {
  await ensureInstalled();
  const { code, output } = await withProgress(
    () => 'building',
    () => compile(),
  );
  if (code !== 0) throw new Error(`the build failed:\n${output}`);
};
