import { InvalidArgumentError, type Command } from 'commander';
import { UsageError } from './errors.js';

export function withVerbose(command: Command): Command {
  return command.option('--verbose', 'Enable verbose output');
}

export function withConfig(command: Command): Command {
  return withVerbose(command).option(
    '--config <file>',
    'Use this configuration file (default: toolkeel.config.json, if it exists)',
  );
}

/** For commands that know packs beyond the built-in ones. */
export function withPacks(command: Command): Command {
  return withConfig(command).option(
    '--pack <module>',
    'Load a pack from a module, such as ./tickets.js; repeatable',
    collect,
  );
}

export function example(...commands: readonly string[]): string {
  const title = commands.length === 1 ? 'Example' : 'Examples';
  return `\n${title}:\n${commands.map((command) => `  $ ${command}\n`).join('')}`;
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function portOption(text: string): number {
  try {
    return parsePort(text);
  } catch (cause) {
    throw new InvalidArgumentError(cause instanceof Error ? cause.message : '');
  }
}

interface Address {
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
