import type { ToolSpec } from '@toolkeel/contract';
import type { PackBinding } from '@toolkeel/host';
import type { Flag } from '@toolkeel/sandbox';

export type Settings = Readonly<Record<string, unknown>>;

/** A local upstream that stands in for the real one. */
export interface SandboxUpstream {
  /** The pack's whole configuration: it leads to this upstream and to nothing else. */
  readonly settings: Settings;
  /** What a person or a test may want to open, by what it is. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export interface PackLine {
  /** Its tools and how it is configured. Loads the pack, and nothing that it needs to run. */
  readonly load: () => Promise<PackBinding>;
  /** A call that is worth trying first, and works with any upstream. */
  readonly firstCall: { readonly name: string; readonly arguments: Settings };
  readonly sandbox: {
    readonly flags: () => Promise<readonly Flag[]>;
    /** With what was said on the command line, by the names of the flags. */
    readonly start: (flags: Settings) => Promise<SandboxUpstream>;
  };
  /** What `init` asks, and what follows from the answer. */
  readonly setup: {
    readonly question: string;
    readonly placeholder: string;
    readonly settings: (url: string) => Settings;
  };
  /** The variable that says where the upstream is. */
  readonly urlVariable: string;
}

const stac: PackLine = {
  load: async () => {
    const { stac: pack, configFromEnvironment } = await import('@toolkeel/stac');
    return { pack, fromEnvironment: configFromEnvironment, preset: 'stac' };
  },
  firstCall: { name: 'search_items', arguments: { limit: 2 } },
  sandbox: {
    flags: async () => (await import('@toolkeel/sandbox')).stacFlags,
    start: async (flags) => {
      const { startStacSandbox, stacOptionsFromFlags } = await import('@toolkeel/sandbox');
      const options = stacOptionsFromFlags(flags);
      const { url, staticUrl, hostileUrl, assetsUrl, signingUrl, control, close } =
        await startStacSandbox(options);
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
        addresses: {
          api: url,
          static: staticUrl,
          hostile: hostileUrl,
          assets: assetsUrl,
          ...(signingUrl !== undefined && { signing: signingUrl }),
          control: control.url,
        },
        close,
      };
    },
  },
  setup: {
    question: 'Which STAC API? Leave it empty for Earth Search.',
    placeholder: 'https://stac.example.com/v1',
    settings: (url) => ({ defaultCatalog: 'default', catalogs: { default: { url } } }),
  },
  urlVariable: 'TOOLKEEL_STAC_URL',
};

/** All packs there are. A new one needs its line here, and nothing else in this package. */
const packTable = new Map<string, PackLine>([['stac', stac]]);

const names = [...packTable.keys()];
export const packNames: readonly string[] = names;

/** For a program that brings a pack of its own to this command. Gives what takes it away again. */
export function addPack(name: string, line: PackLine): () => void {
  packTable.set(name, line);
  names.push(name);
  return () => {
    packTable.delete(name);
    names.splice(names.indexOf(name), 1);
  };
}

/** By a name that was checked. */
export function packLine(name: string): PackLine {
  const line = packTable.get(name);
  if (!line) throw new TypeError(`no pack is called ${name}`);
  return line;
}

/** What these packs describe. */
export async function toolsOf(packs: readonly string[]): Promise<readonly ToolSpec[]> {
  const bindings = await Promise.all(packs.map((name) => packLine(name).load()));
  return bindings.flatMap(({ pack }) => pack.describe());
}
