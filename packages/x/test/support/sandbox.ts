import { startXSandbox, type Commit, type XSandbox, type XSandboxOptions } from '@toolkeel/sandbox';
import { useClosing } from './closing.js';
import { createRig, type Config, type Rig } from './rig.js';

export interface SandboxWorld {
  readonly rig: Rig;
  readonly sandbox: XSandbox;
  /** Another process of ours, as far as X can tell. */
  readonly another: (config?: Config) => Promise<Rig>;
}

/** The sandbox's X with a pack that is logged in; both end with the suite. */
export function useSandbox() {
  const onClose = useClosing();
  return async (options: XSandboxOptions = {}, config: Config = {}): Promise<SandboxWorld> => {
    const sandbox = await startXSandbox(options);
    onClose(() => sandbox.close());
    const { credentials } = sandbox;
    const another = async (more: Config = {}): Promise<Rig> => {
      const env = { APP: credentials.bearerToken, USER: credentials.accessToken };
      const tier = options.tier ?? 'self_serve';
      const rig = await createRig(
        { baseUrl: sandbox.url, accessToken: { env: 'USER' }, tier, ...config, ...more },
        env,
      );
      onClose(() => rig.close());
      return rig;
    };
    return { rig: await another(), sandbox, another };
  };
}

type Made = Extract<Commit, { readonly kind: 'post.created' }>;

/** The posts that X has really made, in order. */
export function created(sandbox: XSandbox): readonly Made[] {
  return sandbox.commits().filter((commit): commit is Made => commit.kind === 'post.created');
}
