import type { Catalog } from '../api/catalog.js';
import type { Client } from '../api/client.js';
import { linkTo } from '../api/links.js';
import { compact, docOf, textOf, textsOf, type Doc } from '../json.js';
import type { Scope } from '../scope.js';
import type { Fields } from '../search/fields.js';
import { unsupported } from '../search/plan.js';
import { didYouMean } from '@toolkeel/pack-kit';

/** As an asset name: all of them. */
export const ALL_ASSETS = '*';

/** The assets of an item with one of these keys or roles, with absolute URLs where possible. */
export function pickAssets(item: Doc, wanted: readonly string[]): Doc {
  const picked = Object.entries(assetsOf(item)).flatMap(([key, value]) => {
    const asset = docOf(value);
    if (!asset || !isWanted(key, asset, wanted)) return [];
    const href = textOf(asset['href']);
    const url = href === undefined ? {} : { href: absoluteUrl(item, href) };
    return [[key, { ...asset, ...url }] as const];
  });
  return Object.fromEntries(picked);
}

function isWanted(key: string, asset: Doc, wanted: readonly string[]): boolean {
  if (wanted.includes(key) || wanted.includes(ALL_ASSETS)) return true;
  return textsOf(asset['roles']).some((role) => wanted.includes(role));
}

/** The item with the wanted assets only. */
export function withOnly(item: Doc, wanted: readonly string[] | undefined): Doc {
  return wanted ? { ...item, assets: pickAssets(item, wanted) } : item;
}

/** Better no answer than unsigned addresses that look like signed ones. */
export function needSigning({ name, signing }: Catalog): void {
  if (!signing) {
    unsupported('sign_assets', `${name} has no signing. Ask again without \`sign_assets\`.`);
  }
}

/** Signs the wanted assets, and the thumbnail. */
export function signedItems(
  client: Client,
  catalog: Catalog,
  items: readonly Doc[],
  wanted: readonly string[] | undefined,
  scope: Scope,
): Promise<readonly Doc[]> {
  const needed = items.map((item) =>
    wanted ? { ...item, assets: pickAssets(item, [...wanted, thumbnailKey(item) ?? '']) } : item,
  );
  return client.signer.signItems(catalog, needed, scope);
}

/** Signed URLs help only an answer that contains them. */
export function unsignedWarning(shown: readonly Doc[]): readonly string[] {
  if (shown.length === 0 || shown.some((item) => item['assets'] !== undefined)) return [];
  return ['The answer has no asset URLs to sign. Add `assets`, or "assets" to `fields`.'];
}

/** What is needed to download assets, without the details of their bands. */
export function assetDetails(assets: Doc): Doc {
  const entries = Object.entries(assets).map(([key, asset]) => {
    const { href, title, type, roles, 'file:size': size } = docOf(asset) ?? {};
    return [key, compact({ href, title, type, roles, 'file:size': size })] as const;
  });
  return Object.fromEntries(entries);
}

/** The key of the asset that shows the item at a glance, if a browser can display it. */
function thumbnailKey(item: Doc): string | undefined {
  const assets = Object.entries(assetsOf(item)).flatMap(([key, value]) => {
    const asset = docOf(value);
    return asset ? [{ key, roles: textsOf(asset['roles']), type: textOf(asset['type']) }] : [];
  });
  const isImage = (type: string | undefined) => /^image\/(png|jpe?g|webp|gif)/.test(type ?? '');
  const found =
    assets.find(({ roles }) => roles.includes('thumbnail')) ??
    assets.find(({ key }) => key === 'thumbnail') ??
    assets.find(({ roles, type }) => roles.includes('overview') && isImage(type));
  return found?.key;
}

export function thumbnailUrl(item: Doc): string | undefined {
  const key = thumbnailKey(item);
  const href = key === undefined ? undefined : textOf(docOf(assetsOf(item)[key])?.['href']);
  return href === undefined ? undefined : absoluteUrl(item, href);
}

/** Includes `assets` in what the server is asked for. */
export function withAssets(fields: Fields | undefined): Fields | undefined {
  if (!fields) return undefined;
  const { include, exclude } = fields;
  return {
    include: include.length > 0 ? [...include, 'assets'] : include,
    exclude: exclude.filter((name) => name !== 'assets'),
  };
}

const MAX_NAMES = 30;

/** Names that match no asset of any item. */
export function assetWarnings(items: readonly Doc[], wanted: readonly string[]): readonly string[] {
  const keys = new Set(items.flatMap((item) => Object.keys(assetsOf(item))));
  const roles = new Set(
    items.flatMap((item) => Object.values(assetsOf(item)).flatMap((one) => rolesOf(one))),
  );
  if (keys.size === 0) return [];
  const unknown = wanted.filter(
    (name) => name !== ALL_ASSETS && !keys.has(name) && !roles.has(name),
  );
  return unknown.map((name) => {
    const names = [...keys].slice(0, MAX_NAMES).join(', ');
    const hint = didYouMean(name, [...keys, ...roles]);
    return `No item has an asset with the key or role "${name}".${hint} Keys: ${names}.`;
  });
}

function rolesOf(asset: unknown): readonly string[] {
  return textsOf(docOf(asset)?.['roles']);
}

function assetsOf(item: Doc): Doc {
  return docOf(item['assets']) ?? {};
}

/** Static catalogues write URLs relative to the item. */
function absoluteUrl(item: Doc, href: string): string {
  if (URL.canParse(href)) return href;
  const self = linkTo(item, 'self')?.href;
  return self !== undefined && URL.canParse(href, self) ? new URL(href, self).href : href;
}
