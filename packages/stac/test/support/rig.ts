import {
  createPackRig,
  startScriptedUpstream,
  type Handler,
  type PackRig,
  type ScriptedUpstream,
} from '@toolkeel/pack-kit/testing';
import { afterEach } from 'vitest';
import type * as z from 'zod';
import { createStacPack, type configSchema, type RuntimeContext } from '../../src/index.js';

type Config = z.input<typeof configSchema>;

/** Servers and packs with catalogues on loopback only, closed after each test. */
export function useHarness() {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const serve = async (handler: Handler, host?: string): Promise<ScriptedUpstream> => {
    const server = await startScriptedUpstream(handler, host === undefined ? {} : { host });
    closing.push(() => server.close());
    return server;
  };
  const createRig = async (config: Config, runtime: RuntimeContext = {}): Promise<PackRig> => {
    const resolve = async (name: string) => {
      throw new Error(`a test must not resolve ${name}`);
    };
    const pack = createStacPack({ env: {}, resolve, ...runtime });
    const random = Math.random;
    const rig = await createPackRig(pack, { builtinCatalogs: false, ...config }, { random });
    closing.push(() => rig.close());
    return rig;
  };
  /** One server as the only catalogue. */
  const setup = async (handler: Handler, config: Config = {}) => {
    const server = await serve(handler);
    const rig = await createRig({ catalogs: { test: { url: server.origin } }, ...config });
    return { rig, server };
  };
  return { serve, createRig, setup };
}

/** Argument values close to what the tools accept. */
export const argumentValues: readonly unknown[] = [
  [10, 50, 11, 45],
  { type: 'Polygon', coordinates: [] },
  { include: 5 },
];
