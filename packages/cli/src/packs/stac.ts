import type { BuiltinPack } from './pack.js';

export const stac: BuiltinPack = {
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
        environment: { TOOLKEEL_STAC_URL: url },
        close,
      };
    },
  },
  setup: {
    isReady: true,
    question: 'Which STAC API? Leave empty for Earth Search.',
    placeholder: 'https://stac.example.com/v1',
    settings: (url) => ({ defaultCatalog: 'default', catalogs: { default: { url } } }),
  },
};
