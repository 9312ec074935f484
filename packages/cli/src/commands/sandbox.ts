import { choosePacks, type SandboxUpstream, type Settings, toolsOf } from '../packs.js';
import type { RuntimeContext } from '../runtime.js';
import { packFlags, settingsByPack, startSandboxes } from '../sandboxes.js';
import { shellWord } from '../snippets.js';

/** Runs local upstreams until a signal arrives. */
export async function sandbox(
  named: readonly string[],
  flags: Settings,
  { stdout }: RuntimeContext,
  stopped: Promise<void>,
): Promise<void> {
  const packs = choosePacks(named);
  const settings = settingsByPack(packs, await packFlags(), flags);
  const { byPack, close } = await startSandboxes(packs, settings);
  for (const [name, upstream] of byPack) stdout.write(await describeSandbox(name, upstream));
  stdout.write('Press Ctrl-C to stop.\n');
  await stopped;
  await close();
}

async function describeSandbox(name: string, upstream: SandboxUpstream): Promise<string> {
  const { addresses, environment, login } = upstream;
  const facts = { ...addresses, ...(login && { 'client id': login.clientId }) };
  const lines = Object.entries(facts).map(([what, value]) => `  ${what.padEnd(10)} ${value}\n`);
  // The default profile has no mutations, and a sandbox is meant to be changed.
  const hasMutations = (await toolsOf([name])).some(
    ({ profiles }) => !profiles.includes('readonly'),
  );
  const serve = `toolkeel serve ${name}${hasMutations ? ' --profile api' : ''}`;
  const commands = [withVariables(environment, serve)];
  if (login) {
    const logIn = `toolkeel login ${name} --client-id ${shellWord(login.clientId)}`;
    commands.push(withVariables(login.environment, logIn));
  }
  return `${name}\n${lines.join('')}\n${commands.map((command) => `  ${command}\n`).join('')}\n`;
}

function withVariables(environment: Readonly<Record<string, string>>, command: string): string {
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${shellWord(value)}`);
  return [...variables, command].join(' ');
}
