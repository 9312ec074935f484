import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { listings } from '../../../../scripts/lib/hints.mjs';
import type { Message } from '../../src/frame.js';
import { knownProfiles } from '../../src/profiles.js';
import { createRig, type Rig, type RigClient } from '../../src/rig.fixture.js';
import { npmServers, packageOf, type NpmServer } from './npm-servers.js';

type Members = Readonly<Record<string, unknown>>;

/** A call, and what a second one is expected to do. */
export interface Repeated {
  readonly tool: string;
  readonly args: Members;
  readonly effect: 'read' | 'idempotent' | 'once';
  /** Makes what the call needs; runs before the first call only. */
  readonly before?: () => unknown;
  /** What somebody else does between the two calls. */
  readonly meanwhile?: () => unknown;
  /** What tells that a `once` call acts again, other than a changed state. */
  readonly again?: (first: Message, second: Message) => boolean;
}

interface OpenOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Loaded before the server. */
  readonly preload?: string;
}

/** A guard in front of a real server, and an empty directory for the server. Both end with the test. */
export interface ServerRig {
  readonly dir: () => string;
  readonly guard: () => Rig['guard'];
  /** Starts the server, and compares how it introduces itself with its profile and its recorded listing. */
  readonly open: (name: NpmServer, options?: OpenOptions) => Promise<RigClient>;
  /** Makes each call twice, and compares the states before, between and after with the declared effect. */
  readonly expectEffects: (
    cases: readonly Repeated[],
    state: () => unknown,
    /** Tools of the profile that cannot be called here. All others must be. */
    except?: readonly string[],
  ) => Promise<void>;
}

export const textOf = ({ result, error }: Message): string =>
  error?.message ??
  (result?.['content'] as readonly { text?: string }[] | undefined)
    ?.map(({ text }) => text)
    .join() ??
  '';
const isFailure = ({ result, error }: Message): boolean =>
  error !== undefined || result?.['isError'] === true;

export function useServerRig(): ServerRig {
  let dir = '';
  let rig: Rig | undefined;
  let client: RigClient | undefined;
  let profiled: readonly string[] = [];
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'guard-profiles-')));
  });
  afterEach(async () => {
    await rig?.close();
    rig = undefined;
    rmSync(dir, { recursive: true, force: true });
  });

  const open: ServerRig['open'] = async (name, { args = [], env = {}, preload } = {}) => {
    const imported = preload === undefined ? [] : ['--import', preload];
    rig = createRig({
      config: { command: process.execPath, args: [...imported, ...npmServers[name], ...args] },
      env: {
        PATH: process.env['PATH'],
        HOME: dir,
        TOOLKEEL_DATA_DIR: join(dir, '.data'),
        ...env,
      },
    });
    client = await rig.client();
    await client.session.toolsListed();
    const from = packageOf(name);
    const profile = knownProfiles.find((one) => one.package === from);
    profiled = Object.keys(profile?.tools ?? { none: {} });
    const { server, tools } = listings().find((listing) => listing.package === from) ?? {};
    const events = rig.logs();
    expect(events.find(({ event }) => event === 'guard_profile')).toMatchObject({
      package: from,
      server: server?.name,
      version: server?.version,
    });
    expect(events.filter(({ event }) => event === 'guard_profile_tool_changed')).toEqual([]);
    expect(rig.guard.tools.map(asListed)).toEqual(tools);
    return client;
  };

  const expectEffects: ServerRig['expectEffects'] = async (cases, state, except = []) => {
    const called = new Set(except);
    for (const { tool, args, effect, before, meanwhile, again } of cases) {
      called.add(tool);
      await before?.();
      const label = `${tool} ${JSON.stringify(args)}`;
      const decision = rig?.guard.tools.find(({ listed }) => listed.name === tool)?.decision;
      expect([label, decision?.of(args)]).toEqual([label, effect]);
      const start = await state();
      const first = await client!.call(tool, args);
      expect([label, isFailure(first), textOf(first)]).toMatchObject([label, false, {}]);
      await meanwhile?.();
      const between = await state();
      const second = await client!.call(tool, args);
      const end = await state();
      if (effect === 'read') expect([label, between, end]).toEqual([label, start, start]);
      if (effect === 'idempotent') expect([label, end]).toEqual([label, between]);
      if (effect === 'once') {
        const actsAgain =
          JSON.stringify(end) !== JSON.stringify(between) ||
          isFailure(second) ||
          (again?.(first, second) ?? false);
        expect([label, actsAgain]).toEqual([label, true]);
      }
    }
    expect(profiled.filter((name) => !called.has(name))).toEqual([]);
  };

  return { dir: () => dir, guard: () => rig!.guard, open, expectEffects };
}

const asListed = ({ listed }: Rig['guard']['tools'][number]) => ({
  name: listed.name,
  annotations: Object.fromEntries(
    Object.entries(listed.annotations ?? {}).filter(([hint]) => hint !== 'title'),
  ),
  arguments: Object.keys((listed.inputSchema?.['properties'] as object | undefined) ?? {}),
});
