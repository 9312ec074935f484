import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { CONFIG_FILE } from '@toolkeel/host';
import { answersFrom, configOf, type Answers, type InitFlags } from '../init/answers.js';
import { launchOf } from '../init/launch.js';
import { packLine } from '../packs.js';
import { snippetsFor } from '../snippets.js';
import type { RuntimeContext } from '../surroundings.js';
import { UsageError } from '../usage-error.js';
import { ownVersion } from '../version.js';

/** Writes a configuration file, and says how clients are told of it. */
export async function init(flags: InitFlags, runtime: RuntimeContext): Promise<number> {
  const { cwd, stdout, stderr, isInteractive } = runtime;
  const file = resolve(cwd, flags.config ?? CONFIG_FILE);
  const known = answersFrom(flags);
  if (!flags.yes && !isInteractive) {
    throw new UsageError('There is nobody to ask here: say --yes to take the defaults and flags.');
  }
  let answers: Answers = known;
  if (flags.yes) {
    if (existsSync(file) && !flags.force) {
      stderr.write(`${file} is there already, and was left alone. --force replaces it.\n`);
      return 1;
    }
  } else {
    const asked = await ask(known, file, flags.force === true);
    if (!asked) {
      stderr.write('Nothing was written.\n');
      return 1;
    }
    answers = asked;
  }
  const config = configOf(answers, schemaFor(dirname(file)));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
  stdout.write(afterwards(file, answers));
  return 0;
}

/** Undefined where the person does not want to go on. */
async function ask(known: Answers, file: string, force: boolean): Promise<Answers | undefined> {
  const { askAll, askToReplace, Cancelled } = await import('../init/ask.js');
  try {
    const mayWrite = force || !existsSync(file) || (await askToReplace(file));
    return mayWrite ? await askAll(known) : undefined;
  } catch (cause) {
    if (cause instanceof Cancelled) return undefined;
    throw cause;
  }
}

/** Where editors find what may stand in the file: in the project's own toolkeel, else in the published one. */
function schemaFor(dir: string): string {
  const name = 'dist/config.schema.json';
  const installed = resolve(dir, 'node_modules', 'toolkeel', name);
  return existsSync(installed)
    ? `./${relative(dir, installed).replaceAll('\\', '/')}`
    : `https://unpkg.com/toolkeel@${ownVersion()}/${name}`;
}

function afterwards(file: string, { packs }: Answers): string {
  const logins = packs.filter((name) => packLine(name).login);
  const snippets = snippetsFor(launchOf(['serve', '--config', file]));
  return [
    `Wrote ${file}.`,
    '',
    'Tell a client of it:',
    ...snippets.flatMap(({ client, where, text }) => ['', `${client}, ${where}:`, text]),
    '',
    ...logins.map((name) => `toolkeel login ${name} lets it act for you.`),
    'toolkeel doctor looks whether everything can be reached.',
    '',
  ].join('\n');
}
