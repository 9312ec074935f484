import { UsageError } from './errors.js';

export interface Address {
  readonly host?: string;
  readonly port?: number;
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new UsageError(`"${text}" is not a port. Use an integer from 0 to 65535.`);
  }
  return port;
}

/** A listen address: `8080`, `localhost`, `127.0.0.1:8080`, `[::1]:8080`. */
export function parseAddress(text: string): Address {
  if (/^\d+$/.test(text)) return { port: parsePort(text) };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(.*))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || !/^[\w.:%-]*$/.test(host) || (host === '' && port === undefined)) {
    throw new UsageError(
      `"${text}" is not an address. Use host:port, such as 127.0.0.1:8080 or [::1]:8080.`,
    );
  }
  return {
    ...(host !== '' && { host }),
    ...(port !== undefined && { port: parsePort(port) }),
  };
}
