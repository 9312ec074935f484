// A server of the drill: the real host, the real journal, and a point where it may die.
import { acceptControls, type Tool } from '@toolkeel/contract';
import { createHost } from '@toolkeel/host';
import { createJournal, sqliteStore } from '@toolkeel/journal';
import { mortal } from './death.js';
import type { ServerSettings } from './settings.js';
import { effectTools } from './tools.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as ServerSettings;
const { callTimeoutMs, leaseMs } = settings;
const nobody = { beforeSending: () => undefined, afterResponse: () => undefined };

if (settings.journal === 'off') {
  const host = createHost({
    tools: effectTools(settings.upstream, nobody),
    profile: 'api',
    callTimeoutMs,
  });
  await host.serveStdio().closed;
  await host.close();
} else {
  const opened = await sqliteStore({ path: settings.journal.slice('sqlite:'.length) });
  const { store, hooks } = mortal(opened, settings.ending);
  const tools: readonly Tool[] = effectTools(settings.upstream, hooks);
  const journal = createJournal({
    store,
    seals: { seal: (t) => `~${t}`, open: (t) => t.slice(1), mac: (t) => t },
    leaseMs,
    tools: {
      specs: () => tools,
      load: (name) => tools.find((tool) => tool.name === name),
    },
    report: (cause) => console.error(cause),
  });
  journal.start();
  const host = createHost({
    tools,
    profile: 'api',
    callTimeoutMs,
    around: [journal.around],
    prepare: (tool) => ('handler' in tool ? (acceptControls(tool as never) as never) : tool),
  });
  await host.serveStdio().closed;
  await host.close();
  await journal.close();
  await opened.close();
}
