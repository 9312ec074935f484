import type { PackBinding } from '@toolkeel/host';

/** A local upstream that stands in for the real one. */
export interface SandboxUpstream {
  /** The pack's whole configuration: it leads to this upstream and to nothing else. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** What a person may want to open, by what it is. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export interface PackEntry {
  /** Its tools and how it is configured. Loads the pack, and nothing that it needs to run. */
  readonly load: () => Promise<PackBinding>;
  /** Starts what stands in for its upstream. */
  readonly startSandbox: () => Promise<SandboxUpstream>;
}

const stac: PackEntry = {
  load: async () => {
    const { stac: pack, configFromEnvironment } = await import('@toolkeel/stac');
    return { pack, fromEnvironment: configFromEnvironment, preset: 'stac' };
  },
  startSandbox: async () => {
    const { startStacSandbox } = await import('@toolkeel/sandbox');
    const { url, staticUrl, assetsUrl, control, close } = await startStacSandbox();
    return {
      settings: {
        defaultCatalog: 'sandbox',
        catalogs: {
          sandbox: { url, trustedOrigins: [new URL(assetsUrl).origin] },
          'sandbox-static': { url: staticUrl },
        },
        builtinCatalogs: false,
        allowCatalogUrl: false,
      },
      addresses: { api: url, control: control.url },
      close,
    };
  },
};

/** All packs there are. A new one needs its line here, and nothing else in this package. */
export const packTable: Readonly<Record<string, PackEntry>> = { stac };

export const packNames: readonly string[] = Object.keys(packTable);
