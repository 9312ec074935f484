import { openSandbox, type Sandbox } from '../sandbox/open.js';
import { ACCOUNT, createSigning } from './assets/sign.js';
import { assetsOf, type AssetFacts } from './catalogue/assets.js';
import { catalogueOf, digestOf } from './catalogue/catalogue.js';
import { flavours } from './flavour/flavours.js';
import type { Traits } from './flavour/traits.js';
import type { StacSandboxOptions } from './options.js';
import { placesOf } from './present/links.js';
import { HOSTILE, STATIC } from './static/serve.js';
import { stacUpstream } from './upstream.js';

export interface StacSandbox extends Sandbox {
  /** The landing page of the API, without a slash at its end. */
  readonly url: string;
  /** The root of a catalogue that is only files. */
  readonly staticUrl: string;
  /** The root of a catalogue that no walk gets through. */
  readonly hostileUrl: string;
  /** What the addresses of assets begin with. */
  readonly assetsUrl: string;
  /** Where tokens for assets are given out, by flavours that need them. */
  readonly signingUrl: string | undefined;
  readonly traits: Traits;
  /** A hash of the catalogue: the same for the same seed and scale. */
  readonly digest: () => string;
  /** What is true about the files of an item, told or not. */
  readonly assetFacts: (collection: string, item: string) => AssetFacts[];
}

/**
 * Starts a STAC API on loopback, with a catalogue of its own and faults on command.
 *
 * The origin of the assets is a second port where the flavour has them elsewhere, as real ones do.
 */
export async function startStacSandbox(options: StacSandboxOptions = {}): Promise<StacSandbox> {
  const { seed = 1, scale = 1, flavour = 'full', assetBase, requiredHeader } = options;
  const traits: Traits = { ...flavours[flavour], ...options.traits };
  const catalogue = catalogueOf({ seed, scale });
  const signing = createSigning(seed, options.tokenLifetimeSeconds ?? 2700);
  const separate = traits.assetHost === 'separate';
  const ports = {
    api: options.port ?? 0,
    ...(separate && { assets: options.assetsPort ?? 0 }),
  };
  let assetsUrl = '';
  const { origins, ...sandbox } = await openSandbox({ ...options, seed, ports }, (at) => {
    const origin = at['assets'] ?? at['api'] ?? '';
    assetsUrl = assetBase ?? origin + (traits.signedAssets ? `/blob/${ACCOUNT}` : '/assets');
    const places = placesOf(traits, at['api'] ?? '', assetsUrl);
    return stacUpstream({ catalogue, traits, places }, signing, requiredHeader);
  });
  const origin = origins['api'] ?? '';
  return {
    ...sandbox,
    url: origin + traits.basePath,
    staticUrl: `${origin}${STATIC}/catalog.json`,
    hostileUrl: `${origin}${HOSTILE}/catalog.json`,
    assetsUrl,
    signingUrl: traits.signedAssets ? `${origin}/api/sas/v1/token` : undefined,
    traits,
    digest: () => digestOf(catalogue),
    assetFacts: (collection, item) => {
      const [product, scene] = [catalogue.product(collection), catalogue.scene(collection, item)];
      return product && scene ? assetsOf(product, scene, seed) : [];
    },
  };
}
