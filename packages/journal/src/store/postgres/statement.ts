import type pg from 'pg';
import { keepable } from '../../text.js';
import type { Query, Row, Script } from '../script.js';

const names = new Map<string, string>();

/** The server plans a statement once for each connection, and knows it by its name afterwards. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `toolkeel_${names.size}`));
  return name;
}

async function rowsOf(
  client: pg.ClientBase,
  { text, values, wants }: Query,
): Promise<readonly Row[]> {
  const kept = values.map((value) => (typeof value === 'string' ? keepable(value) : value));
  const { rows, rowCount } = await client.query<Row>({ name: nameOf(text), text, values: kept });
  return wants === 'count' ? [{ changes: rowCount }] : rows;
}

/** Runs a script, one statement after the other. */
export async function runScript<T>(client: pg.ClientBase, script: Script<T>): Promise<T> {
  let step = script.next();
  while (step.done !== true) step = script.next(await rowsOf(client, step.value));
  return step.value;
}
