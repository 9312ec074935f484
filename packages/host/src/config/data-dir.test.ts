import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultDataDir } from './data-dir.js';

it.each([
  ['linux', {}, ['/home/me', '.local', 'share', 'toolkeel']],
  ['linux', { XDG_DATA_HOME: '/data' }, ['/data', 'toolkeel']],
  ['linux', { XDG_DATA_HOME: 'relative' }, ['/home/me', '.local', 'share', 'toolkeel']],
  ['darwin', {}, ['/home/me', 'Library', 'Application Support', 'toolkeel']],
  ['win32', { LOCALAPPDATA: '/local' }, ['/local', 'toolkeel']],
  ['win32', {}, ['/home/me', 'AppData', 'Local', 'toolkeel']],
] as const)('is where programs of %s keep their data (%j)', (platform, env, parts) => {
  expect(defaultDataDir(env, platform, '/home/me')).toBe(join(...parts));
});
