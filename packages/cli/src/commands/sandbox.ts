import { choosePacks, type SandboxUpstream, type Settings, toolsOf } from '../packs.js';
import { packFlags, settingsByPack, startSandboxes } from '../sandboxes.js';
import { shellWord } from '../snippets.js';
import type { RuntimeContext } from '../runtime.js';

/** The local upstreams alone, until somebody stops them. */
export async function sandbox(
  named: readonly string[],
  flags: Settings,
  { stdout }: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const packs = choosePacks(named);
  const said = settingsByPack(packs, await packFlags(), flags);
  const { byPack, close } = await startSandboxes(packs, said);
  for (const [name, upstream] of byPack) stdout.write(await about(name, upstream));
  stdout.write('Ctrl-C stops it.\n');
  await stopped;
  await close();
}

async function about(name: string, upstream: SandboxUpstream): Promise<string> {
  const { addresses, environment, login } = upstream;
  const told = { ...addresses, ...(login && { 'client id': login.clientId }) };
  const lines = Object.entries(told).map(([what, value]) => `  ${what.padEnd(10)} ${value}\n`);
  // Whoever starts an upstream that can be acted on wants to act on it, and the usual profile only reads.
  const acts = (await toolsOf([name])).some(({ profiles }) => !profiles.includes('readonly'));
  const serve = `toolkeel serve ${name}${acts ? ' --profile api' : ''}`;
  const commands = [withVariables(environment, serve)];
  if (login) {
    const logIn = `toolkeel login ${name} --client-id ${shellWord(login.clientId)}`;
    commands.push(withVariables(login.environment, logIn));
  }
  return `${name}\n${lines.join('')}\n${commands.map((one) => `  ${one}\n`).join('')}\n`;
}

function withVariables(environment: Readonly<Record<string, string>>, command: string): string {
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${shellWord(value)}`);
  return [...variables, command].join(' ');
}
