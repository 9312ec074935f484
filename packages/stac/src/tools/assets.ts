import {
  compact,
  didYouMean,
  objectOf,
  stringOf,
  stringsOf,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { CatalogCall } from '../api/catalog-call.js';
import type { Catalog } from '../api/catalogs.js';
import { linkTo } from '../api/links.js';
import type { Fields } from '../search/fields.js';
import { unsupported } from '../search/plan.js';

/** The asset name that selects all assets. */
export const ALL_ASSETS = '*';

/** The assets with one of these keys or roles, with absolute URLs if possible. */
export function pickAssets(item: JsonObject, wanted: readonly string[]): JsonObject {
  const picked = Object.entries(assetsOf(item)).flatMap(([key, value]) => {
    const asset = objectOf(value);
    if (!asset || !isWanted(key, asset, wanted)) return [];
    const href = stringOf(asset['href']);
    const url = href === undefined ? {} : { href: absoluteUrl(item, href) };
    return [[key, { ...asset, ...url }] as const];
  });
  return Object.fromEntries(picked);
}

function isWanted(key: string, asset: JsonObject, wanted: readonly string[]): boolean {
  if (wanted.includes(key) || wanted.includes(ALL_ASSETS)) return true;
  return stringsOf(asset['roles']).some((role) => wanted.includes(role));
}

/** The item with the selected assets only. */
export function withSelectedAssets(
  item: JsonObject,
  wanted: readonly string[] | undefined,
): JsonObject {
  return wanted ? { ...item, assets: pickAssets(item, wanted) } : item;
}

/** Fails the call, because unsigned URLs would look like signed ones. */
export function requireSigning({ name, signing }: Catalog): void {
  if (!signing) {
    unsupported('sign_assets', `${name} has no signing. Call again without \`sign_assets\`.`);
  }
}

/** Signs the selected assets and the thumbnail. */
export function signItems(
  call: CatalogCall,
  items: readonly JsonObject[],
  wanted: readonly string[] | undefined,
): Promise<readonly JsonObject[]> {
  const needed = items.map((item) =>
    wanted ? { ...item, assets: pickAssets(item, [...wanted, thumbnailKey(item) ?? '']) } : item,
  );
  return call.client.signer.signItems(call.catalog, needed, call.context);
}

/** Warns if the result contains no asset URLs to sign. */
export function unsignedWarning(shown: readonly JsonObject[]): readonly string[] {
  if (shown.length === 0 || shown.some((item) => item['assets'] !== undefined)) return [];
  return ['The result has no asset URLs to sign. Add `assets`, or "assets" to `fields`.'];
}

/** The members needed to download assets, without band details. */
export function assetDetails(assets: JsonObject): JsonObject {
  const entries = Object.entries(assets).map(([key, asset]) => {
    const { href, title, type, roles, 'file:size': size } = objectOf(asset) ?? {};
    return [key, compact({ href, title, type, roles, 'file:size': size })] as const;
  });
  return Object.fromEntries(entries);
}

/** The key of the preview image that a browser can display. */
function thumbnailKey(item: JsonObject): string | undefined {
  const assets = Object.entries(assetsOf(item)).flatMap(([key, value]) => {
    const asset = objectOf(value);
    return asset ? [{ key, roles: stringsOf(asset['roles']), type: stringOf(asset['type']) }] : [];
  });
  const isImage = (type: string | undefined) => /^image\/(png|jpe?g|webp|gif)/.test(type ?? '');
  const found =
    assets.find(({ roles }) => roles.includes('thumbnail')) ??
    assets.find(({ key }) => key === 'thumbnail') ??
    assets.find(({ roles, type }) => roles.includes('overview') && isImage(type));
  return found?.key;
}

export function thumbnailUrl(item: JsonObject): string | undefined {
  const key = thumbnailKey(item);
  const href = key === undefined ? undefined : stringOf(objectOf(assetsOf(item)[key])?.['href']);
  return href === undefined ? undefined : absoluteUrl(item, href);
}

/** Adds `assets` to the requested fields. */
export function includeAssets(fields: Fields | undefined): Fields | undefined {
  if (!fields) return undefined;
  const { include, exclude } = fields;
  return {
    include: include.length > 0 ? [...include, 'assets'] : include,
    exclude: exclude.filter((name) => name !== 'assets'),
  };
}

const MAX_NAMES = 30;

/** Warns about names that match no asset of any item. */
export function assetWarnings(
  items: readonly JsonObject[],
  wanted: readonly string[],
): readonly string[] {
  const keys = new Set(items.flatMap((item) => Object.keys(assetsOf(item))));
  const roles = new Set(items.flatMap((item) => Object.values(assetsOf(item)).flatMap(rolesOf)));
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
  return stringsOf(objectOf(asset)?.['roles']);
}

function assetsOf(item: JsonObject): JsonObject {
  return objectOf(item['assets']) ?? {};
}

/** Static catalogues use URLs relative to the item. */
function absoluteUrl(item: JsonObject, href: string): string {
  if (URL.canParse(href)) return href;
  const self = linkTo(item, 'self')?.href;
  return self !== undefined && URL.canParse(href, self) ? new URL(href, self).href : href;
}
