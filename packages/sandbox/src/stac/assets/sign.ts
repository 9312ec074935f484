import { createHmac } from 'node:crypto';
import { JSON_TYPE } from '../present/links.js';
import { respond } from '../api/respond.js';
import { notFound } from '../api/problem.js';
import type { Catalogue } from '../catalogue/catalogue.js';

export interface Signing {
  /** Who owns the storage, in the sandbox as in the addresses of Azure. */
  readonly account: string;
  readonly token: (container: string) => { readonly 'msft:expiry': string; readonly token: string };
  /** Is a query string good for this container, now? */
  readonly check: (container: string, query: URLSearchParams) => 'good' | 'missing' | 'expired';
}

export const ACCOUNT = 'toolkeelsandbox';

/** Signatures in the style of Azure's shared access: valid for one container, and for a while. */
export function createSigning(seed: number, lifetimeSeconds: number): Signing {
  const signatureOf = (container: string, expiry: string): string =>
    createHmac('sha256', `sandbox ${seed}`).update(`${container}\n${expiry}`).digest('base64');
  return {
    account: ACCOUNT,
    token: (container) => {
      const now = Date.now();
      const expiry = seconds(now + lifetimeSeconds * 1000);
      const token = new URLSearchParams({
        st: seconds(now - 86_400_000),
        se: expiry,
        sp: 'rl',
        sv: '2024-05-04',
        sr: 'c',
        sig: signatureOf(container, expiry),
      });
      return { 'msft:expiry': expiry, token: token.toString() };
    },
    check: (container, query) => {
      const [expiry, signature] = [query.get('se'), query.get('sig')];
      if (expiry === null || signature === null) return 'missing';
      const genuine = signature === signatureOf(container, expiry);
      return genuine && Date.parse(expiry) > Date.now() ? 'good' : 'expired';
    },
  };
}

function seconds(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** A token for a collection, or for a container of an account. */
export function signToken(
  signing: Signing,
  catalogue: Catalogue,
  { collection, account = signing.account }: { collection: string; account?: string },
): Response {
  if (!catalogue.product(collection) || account !== signing.account)
    throw notFound(`Container ${account}/${collection}`);
  return respond(200, JSON.stringify(signing.token(collection)), JSON_TYPE);
}
