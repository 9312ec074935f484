import { coldName, OTHER_NAME, siteName } from '../calls/arguments.js';

export interface SettingsOptions {
  readonly mainUrl: string;
  readonly otherUrl: string;
  readonly hedge: boolean;
  /** How many further names the main catalogue gets, of each kind. */
  readonly sites: number;
}

/** The configuration file of a server. The main catalogue itself comes from its environment. */
export function settings({ mainUrl, otherUrl, hedge, sites }: SettingsOptions) {
  const named = (name: (n: number) => string, parameter: string) =>
    Object.fromEntries(
      Array.from({ length: sites }, (_, n) => [name(n), { url: `${mainUrl}/?${parameter}=${n}` }]),
    );
  return {
    packs: {
      stac: {
        builtinCatalogs: false,
        hedge,
        catalogs: {
          [OTHER_NAME]: { url: otherUrl },
          ...named(siteName, 'site'),
          ...named(coldName, 'cold'),
        },
      },
    },
  };
}

/** What is said to this process is not meant for the servers that it starts. */
export function serverEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(TOOLKEEL|STAC_MCP)_/.test(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...own };
}
