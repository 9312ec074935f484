// A server of the drill: the real host and journal, with a point at which it stops itself.
import { inspect } from 'node:util';
import { acceptControls, isJournaled, type Tool, type ToolSpec } from '@toolkeel/contract';
import { createHost, type HostOptions } from '@toolkeel/host';
import { createJournal, openEncryption, openStore } from '@toolkeel/journal';
import { type ServerSettings, stopAtPoint } from './faults.js';
import { effectTools } from './tools.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as ServerSettings;

if (settings.journal === 'off') {
  const noHooks = { beforeSending: () => undefined, afterResponse: () => undefined };
  await serve({ tools: effectTools(settings.upstream, noHooks) });
} else {
  const { dataDir, leaseMs, upstream } = settings;
  const opened = await openStore(settings.journal, { dataDir });
  const { store, hooks } = stopAtPoint(opened, settings.stop);
  const tools: readonly Tool[] = effectTools(upstream, hooks);
  const journal = createJournal({
    store,
    encryption: await openEncryption(store, dataDir),
    leaseMs,
    tools: { specs: () => tools, load: (name) => tools.find((tool) => tool.name === name) },
    report: (cause) => void process.stderr.write(`${inspect(cause)}\n`),
  });
  journal.start();
  await serve({ tools, middleware: [journal.middleware], prepare: withControls });
  await journal.close();
  await opened.close();
}

async function serve(options: HostOptions): Promise<void> {
  const host = createHost({
    ...options,
    profile: 'api',
    callTimeoutMs: settings.callTimeoutMs,
  });
  await host.serveStdio().closed;
  await host.close();
}

function withControls<T extends ToolSpec>(tool: T): T {
  return isJournaled(tool) ? (acceptControls(tool as unknown as Tool) as unknown as T) : tool;
}
