import {
  badResponse,
  BoundedMap,
  isObject,
  memberOf,
  objectOf,
  stringOf,
  urlUnder,
  type CallContext,
  type JsonObject,
} from '@toolkeel/pack-kit';
import type { Documents } from '../http/requests.js';
import type { Catalog, Signing } from './catalogs.js';

interface Token {
  readonly value: string;
  readonly expiresAt: number;
}

/** Tokens are renewed this long before they expire, to leave time for the download. */
const RENEW_BEFORE_MS = 60_000;
const MAX_TOKENS = 256;
const BLOB_HOST = /^([a-z0-9]{3,24})\.blob\.core\.windows\.net$/;

/** The blob container of an asset; a token is valid for one container. */
interface Container {
  readonly account: string;
  readonly container: string;
}

/** Signs asset URLs with short-lived tokens, which it caches. */
export class Signer {
  readonly #documents: Documents;
  readonly #wallNow: () => number;
  readonly #tokens = new BoundedMap<Token>(MAX_TOKENS);
  readonly #inFlight = new Map<string, Promise<Token>>();

  constructor(documents: Documents, wallNow: () => number) {
    this.#documents = documents;
    this.#wallNow = wallNow;
  }

  /** The items with signed asset URLs; URLs that need no token are unchanged. */
  async signItems(
    catalog: Catalog,
    items: readonly JsonObject[],
    context: CallContext,
  ): Promise<readonly JsonObject[]> {
    return Promise.all(items.map((item) => this.#signItem(catalog, item, context)));
  }

  async #signItem(catalog: Catalog, item: JsonObject, context: CallContext): Promise<JsonObject> {
    const assets = objectOf(item['assets']) ?? {};
    const signed = await Promise.all(
      Object.entries(assets).map(async ([key, asset]) => {
        const href = stringOf(memberOf(asset, 'href'));
        if (href === undefined || !isObject(asset)) return [key, asset] as const;
        return [key, { ...asset, href: await this.sign(catalog, href, context) }] as const;
      }),
    );
    return { ...item, assets: Object.fromEntries(signed) };
  }

  /** A signed URL is a secret until it expires: it may only be shown to the caller that requested it. */
  async sign(catalog: Catalog, href: string, context: CallContext): Promise<string> {
    const container = catalog.signing && containerOf(href, catalog.signing, catalog.trusted);
    if (!catalog.signing || !container) return href;
    const token = await this.#tokenFor(catalog, catalog.signing, container, context);
    return `${href}${href.includes('?') ? '&' : '?'}${token}`;
  }

  async #tokenFor(catalog: Catalog, signing: Signing, container: Container, context: CallContext) {
    const key = `${catalog.name}/${container.account}/${container.container}`;
    const cached = this.#tokens.get(key);
    if (cached && cached.expiresAt - this.#wallNow() > RENEW_BEFORE_MS) return cached.value;
    // Assets of one call share a request; other calls have another deadline.
    const requestKey = `${key} ${context.correlationId}`;
    const request =
      this.#inFlight.get(requestKey) ?? this.#fetch(catalog, signing, container, context);
    this.#inFlight.set(requestKey, request);
    try {
      const token = await request;
      this.#tokens.set(key, token);
      return token.value;
    } finally {
      this.#inFlight.delete(requestKey);
    }
  }

  async #fetch(
    catalog: Catalog,
    signing: Signing,
    container: Container,
    context: CallContext,
  ): Promise<Token> {
    const url = urlUnder(signing.tokenUrl, container.account, container.container);
    const signer = { ...catalog, url, headers: signing.headers };
    const { doc } = await this.#documents.get(signer, url, 'sign', context);
    const value = stringOf(doc['token']);
    const expiresAt = Date.parse(stringOf(doc['msft:expiry']) ?? '');
    if (value === undefined || Number.isNaN(expiresAt)) throw badResponse(url, 'no token in it');
    return { value, expiresAt };
  }
}

/** The container of an asset that needs a token; undefined for all others. */
function containerOf(
  href: string,
  { openAccounts }: Signing,
  trusted: Catalog['trusted'],
): Container | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const account = BLOB_HOST.exec(url.hostname)?.[1];
  const container = url.pathname.split('/')[1];
  if (account === undefined || !container) return undefined;
  // Never send a token in clear text, except to origins that the operator trusts.
  if (url.protocol !== 'https:' && !trusted.has(url.origin)) return undefined;
  if (openAccounts.includes(account)) return undefined;
  // Already signed.
  if (['st', 'se', 'sp'].some((name) => url.searchParams.has(name))) return undefined;
  return { account, container };
}
