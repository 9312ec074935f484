import { docOf, isDoc, memberOf, textOf, type Doc } from '../json.js';
import type { Catalog, Signing } from './catalogs.js';
import { below } from './links.js';
import { badAnswer } from '../http/exchange.js';
import type { Documents } from '../http/documents.js';
import type { CallContext } from '../call-context.js';

interface Token {
  readonly value: string;
  readonly expiresAt: number;
}

/** A token is renewed while it still has this long to live: a download takes its time. */
const SPARE_MS = 60_000;
const MAX_TOKENS = 256;
const BLOB_HOST = /^([a-z0-9]{3,24})\.blob\.core\.windows\.net$/;

/** Where an asset lies: what a token is for. */
interface Container {
  readonly account: string;
  readonly container: string;
}

/** Opens assets with short-lived tokens. They are kept until shortly before they expire. */
export class Signer {
  readonly #documents: Pick<Documents, 'get'>;
  readonly #wallNow: () => number;
  readonly #tokens = new Map<string, Token>();

  constructor(documents: Pick<Documents, 'get'>, wallNow: () => number) {
    this.#documents = documents;
    this.#wallNow = wallNow;
  }

  /** The items with signed addresses; those that need no token stay as they are. */
  async signItems(catalog: Catalog, items: readonly Doc[], scope: CallContext): Promise<readonly Doc[]> {
    return Promise.all(items.map((item) => this.#signItem(catalog, item, scope)));
  }

  async #signItem(catalog: Catalog, item: Doc, scope: CallContext): Promise<Doc> {
    const assets = docOf(item['assets']) ?? {};
    const signed = await Promise.all(
      Object.entries(assets).map(async ([key, asset]) => {
        const href = textOf(memberOf(asset, 'href'));
        if (href === undefined || !isDoc(asset)) return [key, asset] as const;
        return [key, { ...asset, href: await this.sign(catalog, href, scope) }] as const;
      }),
    );
    return { ...item, assets: Object.fromEntries(signed) };
  }

  /** A signed address. It is a secret for as long as it is good: only for whoever asked for it. */
  async sign(catalog: Catalog, href: string, scope: CallContext): Promise<string> {
    const place = catalog.signing && containerOf(href, catalog.signing, catalog.trusted);
    if (!catalog.signing || !place) return href;
    const token = await this.#tokenFor(catalog, catalog.signing, place, scope);
    return `${href}${href.includes('?') ? '&' : '?'}${token}`;
  }

  readonly #underWay = new Map<string, Promise<Token>>();

  async #tokenFor(catalog: Catalog, signing: Signing, place: Container, scope: CallContext) {
    const key = `${catalog.name}/${place.account}/${place.container}`;
    const kept = this.#tokens.get(key);
    if (kept && kept.expiresAt - this.#wallNow() > SPARE_MS) return kept.value;
    // The assets of one call share one request; another call has its own deadline.
    const shared = `${key} ${scope.correlationId}`;
    const running = this.#underWay.get(shared) ?? this.#fetch(catalog, signing, place, scope);
    this.#underWay.set(shared, running);
    try {
      const token = await running;
      this.#keep(key, token);
      return token.value;
    } finally {
      this.#underWay.delete(shared);
    }
  }

  #keep(key: string, token: Token): void {
    this.#tokens.delete(key);
    this.#tokens.set(key, token);
    const [oldest] = this.#tokens.keys();
    if (this.#tokens.size > MAX_TOKENS && oldest !== undefined) this.#tokens.delete(oldest);
  }

  async #fetch(catalog: Catalog, signing: Signing, place: Container, scope: CallContext): Promise<Token> {
    const url = below(new URL(signing.tokenUrl), place.account, place.container);
    const signer = { ...catalog, url, headers: signing.headers };
    const { doc } = await this.#documents.get(signer, url, 'sign', scope);
    const value = textOf(doc['token']);
    const expiresAt = Date.parse(textOf(doc['msft:expiry']) ?? '');
    if (value === undefined || Number.isNaN(expiresAt)) throw badAnswer(url, 'no token in it');
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
  // A token in clear is everybody's, except where the operator has said that nobody listens.
  if (url.protocol !== 'https:' && !trusted.has(url.origin)) return undefined;
  // It is open to all, or has been signed already.
  if (openAccounts.includes(account)) return undefined;
  if (['st', 'se', 'sp'].some((name) => url.searchParams.has(name))) return undefined;
  return { account, container };
}
