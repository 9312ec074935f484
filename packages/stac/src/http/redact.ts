const REDACTED = '[secret]';
/** How often a text may have been escaped for a URL, one time inside the other. */
const MAX_LAYERS = 3;

/** Whether a text repeats one of our credentials, as it is or escaped for a URL. */
export function carriesSecret(text: string, secrets: readonly string[]): boolean {
  if (secrets.length === 0) return false;
  let plain = text;
  for (let layer = 0; ; layer++) {
    for (const secret of secrets) if (plain.includes(secret)) return true;
    if (layer >= MAX_LAYERS || !plain.includes('%')) return false;
    plain = unescaped(plain);
  }
}

/** A server that repeats our credential must not make us hand it on. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const rest = secrets.reduce((left, secret) => left.replaceAll(secret, REDACTED), text);
  // What is still there is escaped, and has no plain place to cut it out from.
  return carriesSecret(rest, secrets) ? REDACTED : rest;
}

/** Escape by escape: one that is wrong must not hide the others. */
function unescaped(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  );
}
