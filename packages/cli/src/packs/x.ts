import type { PackLine } from './line.js';
import { xLoginFile } from './x-login-file.js';
import { startXSandboxUpstream } from './x-sandbox.js';

export const x: PackLine = {
  load: async () => {
    const { x: pack, configFromEnvironment } = await import('@toolkeel/x/pack');
    return {
      pack,
      fromEnvironment: configFromEnvironment,
      preset: 'social',
      // A token that was given is used as it is; beside it a login would only confuse.
      keptIn: (dataDir, { accessToken }) =>
        accessToken === undefined ? { tokenFile: xLoginFile(dataDir) } : {},
    };
  },
  firstCall: { name: 'get_capabilities', arguments: {} },
  sandbox: {
    flags: async () => (await import('@toolkeel/sandbox')).xFlags,
    start: startXSandboxUpstream,
  },
  setup: {
    isReady: false,
    question: 'Where is the X API? Leave it empty for X itself.',
    placeholder: 'https://api.x.com',
    settings: (baseUrl) => ({ baseUrl }),
  },
  login: async (request) => (await import('./x-login.js')).logIntoX(request),
  examine: async (settings) => (await import('./x-login.js')).examineX(settings),
};
