import { Readable } from 'node:stream';
import { createRedactor, type Connections } from '@toolkeel/pack-kit';
import type { TokenEndpoint } from './token-endpoint.js';

const REFUSAL = { error: 'invalid_grant' };

/** X's token endpoint: `refresh-1` gives `access-2` and `refresh-2`, once. */
export function rotatingEndpoint(wallNow: () => number) {
  const sent: string[] = [];
  let onSent = (): void => undefined;
  const request = ({ body }: { readonly body?: unknown }) => {
    const token = new URLSearchParams(String(body)).get('refresh_token') ?? '';
    const isUsedUp = sent.includes(token);
    sent.push(token);
    onSent();
    const next = Number(token.split('-')[1]) + 1;
    const grant = { access_token: `access-${next}`, refresh_token: `refresh-${next}` };
    return Promise.resolve({
      statusCode: isUsedUp ? 400 : 200,
      headers: {},
      body: Readable.from([Buffer.from(JSON.stringify(isUsedUp ? REFUSAL : grant))]),
    });
  };
  const open = () => Promise.resolve({ request, destroy: () => undefined });
  const endpoint: TokenEndpoint = {
    url: new URL('https://x.test/2/oauth2/token'),
    clientSecret: undefined,
    connections: { open } as unknown as Connections,
    secrets: createRedactor(),
    wallNow,
  };
  return {
    endpoint,
    /** The received refresh tokens. */
    sent,
    /** Runs a callback during the next response. */
    meanwhile: (happens: () => void) => {
      onSent = happens;
    },
  };
}
