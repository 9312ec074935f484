import type { Readable, Writable } from 'node:stream';
import * as clack from '@clack/prompts';
import { PROFILES, type Profile } from '@toolkeel/contract';
import { cliPack, packNames } from '../packs.js';
import { urlProblem, type Answers } from './init.js';

/** The user cancelled the prompt. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

export interface Terminal {
  readonly input?: Readable;
  readonly output?: Writable;
}

const HINTS: Readonly<Record<Profile, string>> = {
  readonly: 'read tools only',
  api: 'read tools and mutations',
  workflow: 'mutations with policies and approvals',
};

/** Prompts for all settings; `known` are the defaults. */
export async function askAll(known: Answers, terminal: Terminal = {}): Promise<Answers> {
  clack.intro('toolkeel init', terminal);
  const profile = await answered(
    clack.select<Profile>({
      ...terminal,
      message: 'Which tools may an agent use?',
      initialValue: known.profile,
      options: PROFILES.map((value) => ({ value, label: value, hint: HINTS[value] })),
    }),
  );
  const packs = await answered(
    clack.multiselect<string>({
      ...terminal,
      message: 'Which packs? Space selects, Enter continues.',
      initialValues: [...known.packs],
      options: packNames.map((value) => ({ value, label: value })),
      required: true,
    }),
  );
  const upstreams: Record<string, string> = {};
  for (const pack of packs) {
    const url = await askUrl(pack, known.upstreams[pack], terminal);
    if (url !== '') upstreams[pack] = url;
  }
  return { profile, packs, upstreams };
}

export async function askToReplace(file: string, terminal: Terminal = {}): Promise<boolean> {
  const message = `${file} already exists. Replace it?`;
  return answered(clack.confirm({ ...terminal, message, initialValue: false }));
}

async function askUrl(pack: string, known = '', terminal: Terminal): Promise<string> {
  const { question, placeholder } = cliPack(pack).setup;
  const url = await answered(
    clack.text({
      ...terminal,
      message: question,
      placeholder,
      initialValue: known,
      validate: (text = '') => (text.trim() === '' ? undefined : urlProblem(text.trim())),
    }),
  );
  return (url ?? '').trim();
}

async function answered<T>(asked: Promise<T>): Promise<Exclude<T, symbol>> {
  const answer = await asked;
  if (clack.isCancel(answer)) throw new Cancelled('Nothing was written.');
  return answer as Exclude<T, symbol>;
}
