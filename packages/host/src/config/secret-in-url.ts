/** What stands in an address that nobody else should know: what it is, and never shown, the values. */
export interface UrlSecret {
  readonly what: string;
  readonly values: readonly string[];
}

/** Names of what nobody else should know. `tokenUrl` is not among them: it ends otherwise. */
export const SECRET_NAME: RegExp =
  /(^|[-_.]|[a-z])(authorization|cookie|token|secret|password|(api|access|private|signing|subscription)[-_]?key)$/i;
/** Further ones that only mean that in a query. */
const SECRET_PARAMETER = /^(key|sig|pwd|passwd|passphrase|auth|jwt|credential|(.*-)?signature)$/i;

/** A credential that is a part of an address. Addresses are shown, logged and handed on. */
export function secretInUrl(text: string): UrlSecret | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? parsed(text) : undefined;
  if (!url) return undefined;
  const { username, password, searchParams } = url;
  if (password !== '') return { what: 'a password', values: formsOf(password) };
  // Where a database has users, a web server gets a token.
  if (username !== '' && /^https?:$/.test(url.protocol)) {
    return { what: 'a user name', values: formsOf(username) };
  }
  for (const [name, value] of searchParams) {
    if (value !== '' && (SECRET_NAME.test(name) || SECRET_PARAMETER.test(name)))
      return { what: 'a secret in its query', values: [value] };
  }
  return undefined;
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function formsOf(encoded: string): string[] {
  try {
    return [encoded, decodeURIComponent(encoded)];
  } catch {
    return [encoded];
  }
}
