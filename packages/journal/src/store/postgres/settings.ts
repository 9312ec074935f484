import { JournalError } from '../../error.js';

export interface PostgresSettings {
  /** As `pg` reads it, without what is ours. */
  readonly connectionString: string;
  /** Where our tables are. */
  readonly schema: string;
  /** For messages: never with the user or the password. */
  readonly where: string;
}

const SCHEMA = 'toolkeel';

/** `postgres://user:password@host:port/database?schema=toolkeel`, and whatever else `pg` understands. */
export function postgresSettings(text: string): PostgresSettings {
  const url = parse(text);
  const schema = url.searchParams.get('schema') ?? SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new JournalError(
      'invalid',
      `journal.url names the schema "${schema}". Use lower-case letters, digits and "_", at most 48, ` +
        'beginning with a letter.',
    );
  }
  url.searchParams.delete('schema');
  const host = url.searchParams.get('host') ?? url.host;
  const database = decodeURIComponent(url.pathname.slice(1)) || '(default database)';
  const where = `PostgreSQL at ${host || 'its default address'}, database ${database}, schema ${schema}`;
  return { connectionString: url.href, schema, where };
}

function parse(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw new JournalError(
      'invalid',
      'journal.url is not an address that can be read. It looks like ' +
        'postgres://user:password@host:5432/database; characters such as "@", "/" or "#" in a ' +
        'password are written in percent form ("%40", "%2F", "%23").',
    );
  }
}
