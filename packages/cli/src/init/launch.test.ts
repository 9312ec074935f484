import { sep } from 'node:path';
import { expect, it } from 'vitest';
import { launchOf } from './launch.js';

const npxScript = ['', 'home', '_npx', 'ab12', 'node_modules', 'toolkeel', 'dist', 'bin.js'].join(
  sep,
);

it('is this Node.js and this file, so that no search path is needed', () => {
  expect(launchOf(['serve'], { script: '/app/bin.js', node: '/bin/node' })).toEqual({
    command: '/bin/node',
    args: ['/app/bin.js', 'serve'],
  });
});

it('is npx again where npx has put us, because that is not for ever', () => {
  expect(launchOf(['serve'], { script: npxScript, platform: 'linux' })).toEqual({
    command: 'npx',
    args: ['-y', 'toolkeel', 'serve'],
  });
  expect(launchOf(['serve'], { script: npxScript, platform: 'win32' })).toEqual({
    command: 'cmd',
    args: ['/c', 'npx', '-y', 'toolkeel', 'serve'],
  });
});
