import { raise, toolError } from '@toolkeel/contract';
import {
  checkPublic,
  createRedactor,
  isPublicAddress,
  parseTarget,
  readSecret,
  withoutTrailingSlashes,
  type Environment,
  type IsAllowed,
  type Redactor,
} from '@toolkeel/pack-kit';
import { catalogsOf, defaultCatalogOf, type CatalogConfig, type StacConfig } from '../config.js';

/** The token service that signs the URLs of a catalogue's assets. */
export interface Signing {
  readonly tokenUrl: string;
  /** Storage accounts whose assets need no token. */
  readonly openAccounts: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/** A catalogue with its credentials and the origins it may use. */
export interface Catalog {
  /** The configured name; the URL for a catalogue from an argument. */
  readonly name: string;
  readonly url: URL;
  /** Sent only to the origin of `url`. May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Origins that the operator configured. They may be private; every other request for this catalogue
   * must go to a public address. Empty for a catalogue from an argument.
   */
  readonly trusted: ReadonlySet<string>;
  readonly signing?: Signing;
  /** Redacts the catalogue's credentials. */
  readonly secrets: Redactor;
}

/** The arguments that select a catalogue. */
export interface CatalogSelection {
  readonly catalog?: string | undefined;
  readonly catalog_url?: string | undefined;
}

/** The configured catalogues, and public ones that callers select by URL. */
export class Catalogs {
  readonly defaultName: string;
  readonly #named: ReadonlyMap<string, Catalog>;
  readonly #allowUrls: boolean;
  readonly #isAllowed: IsAllowed;

  constructor(config: StacConfig, env: Environment, isAllowed: IsAllowed = isPublicAddress) {
    this.#named = new Map(
      Object.entries(catalogsOf(config)).map(([name, settings]) => [
        name,
        configuredCatalog(name, settings, env),
      ]),
    );
    this.#allowUrls = config.allowCatalogUrl;
    this.#isAllowed = isAllowed;
    this.defaultName = defaultCatalogOf(config);
  }

  get all(): readonly Catalog[] {
    return [...this.#named.values()];
  }

  get names(): readonly string[] {
    return [...this.#named.keys()];
  }

  /** The catalogue that the arguments select. Fails the call if there is none or it is not allowed. */
  select({ catalog, catalog_url: url }: CatalogSelection): Catalog {
    if (catalog !== undefined && url !== undefined) {
      const message = 'Give `catalog` or `catalog_url`, not both.';
      raise(toolError('invalid_input', message, { details: { field: 'catalog' } }));
    }
    return url === undefined ? this.byName(catalog ?? this.defaultName) : this.byUrl(url);
  }

  byName(name: string): Catalog {
    const found = this.#named.get(name);
    if (found) return found;
    const hint =
      name === '*' ? ' Only search_collections takes "*"; search_federated finds items.' : '';
    const message = `There is no catalogue "${name}". Configured: ${this.names.join(', ')}.${hint}`;
    return raise(toolError('invalid_input', message, { details: { field: 'catalog' } }));
  }

  /** A configured catalogue with this URL, else an unauthenticated public one. */
  byUrl(href: string): Catalog {
    const url = parseTarget(href);
    url.hash = '';
    const configured = this.all.find((catalog) => isSameUrl(catalog.url, url));
    if (configured) return configured;
    if (!this.#allowUrls) {
      raise(toolError('forbidden', 'Only configured catalogues are allowed.'));
    }
    checkPublic(url, this.#isAllowed);
    return { name: url.href, url, headers: {}, trusted: new Set(), secrets: noSecrets };
  }
}

/** For catalogues from arguments, which have no credentials. */
const noSecrets = createRedactor();

function isSameUrl(a: URL, b: URL): boolean {
  const normalized = ({ origin, pathname, search }: URL) =>
    `${origin}${withoutTrailingSlashes(pathname)}${search}`;
  return normalized(a) === normalized(b);
}

function configuredCatalog(name: string, config: CatalogConfig, env: Environment): Catalog {
  const setting = `catalogs.${name}`;
  const secrets = createRedactor();
  const read = (source: Parameters<typeof readSecret>[0], at: string): string => {
    const value = readSecret(source, `${setting}.${at}`, env);
    if (typeof source !== 'string') secrets.add(value);
    return value;
  };
  const url = new URL(config.url);
  const headers = Object.entries(config.headers ?? {}).map(
    ([header, source]) => [header.toLowerCase(), read(source, `headers.${header}`)] as const,
  );
  // Redact credentials with and without a scheme such as "Bearer".
  for (const [header, value] of headers) {
    if (!/auth|key|token|cookie|secret/.test(header)) continue;
    secrets.add(value);
    secrets.add(value.split(' ').at(-1)!);
  }
  const signing = config.signing && signingOf(config.signing, read);
  const trusted = [url.href, ...(config.trustedOrigins ?? []), signing?.tokenUrl ?? url.href];
  return {
    name,
    url,
    headers: Object.fromEntries(headers),
    trusted: new Set(trusted.map((href) => new URL(href).origin)),
    secrets,
    ...(signing && { signing }),
  };
}

function signingOf(
  { tokenUrl, openAccounts = [], subscriptionKey }: NonNullable<CatalogConfig['signing']>,
  read: (source: Parameters<typeof readSecret>[0], at: string) => string,
): Signing {
  const key = subscriptionKey && read(subscriptionKey, 'signing.subscriptionKey');
  const headers: Record<string, string> = key ? { 'ocp-apim-subscription-key': key } : {};
  return { tokenUrl, openAccounts, headers };
}
