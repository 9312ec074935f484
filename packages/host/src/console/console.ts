import type { Envelope, ToolSpec } from '@toolkeel/contract';
import type { ToolSource } from '@toolkeel/journal';
import type { Reachability } from '../call/process-description.js';
import type { OperatorJournal } from '../governance/operator.js';
import type { Access } from '../http/access.js';
import type { HostLog } from '../log/log.js';
import { createApi } from './api.js';
import type { PolicySource } from './policy-pages.js';
import { Sessions } from './sessions.js';
import { staticPages, type Pages } from './static-files.js';
import { plainTextPreview, type TextPreviewOf } from './text-preview.js';
import type { CountTokens } from './tools.js';

/** The process that serves the console. */
export interface ConsoleHost {
  readonly profile: string;
  readonly version: string;
  readonly source: ToolSource;
  readonly specs: () => readonly ToolSpec[];
  /** Calls a read tool as a client does. Absent: tools cannot be tried here. */
  readonly callRead?: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<Envelope>;
  readonly reachability: Reachability;
}

/** What the commands of the operator know and a host does not. */
export interface ConsoleExtras {
  /** The directory of the built page. Default: that of `@toolkeel/console`, if it is built. */
  readonly files?: string;
  /** Loads a counter of o200k tokens. */
  readonly countTokens?: () => Promise<CountTokens>;
  readonly textPreview?: TextPreviewOf;
}

export interface ConsoleOptions extends ConsoleExtras {
  readonly journal: () => Promise<OperatorJournal>;
  readonly token: { readonly reveal: () => string };
  readonly scrub: (text: string) => string;
  readonly log: HostLog;
  readonly host: ConsoleHost;
  readonly policy: PolicySource;
}

/** The page for operators and its API. Requests for other paths are undefined. */
export interface Console {
  readonly fetch: (request: Request, access: Access) => Promise<Response | undefined>;
  /** A link that signs in once. `url`: the address of this server. */
  readonly createLink: (url: string, name: string) => string;
  /** Whether the page is served, not only the API. */
  readonly hasPages: boolean;
  /** To be called when the server listens. */
  readonly listening: (url: string) => void;
  /** Ends open event streams. */
  readonly close: () => void;
}

export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const { log, host } = options;
  const sessions = new Sessions();
  const textPreview = options.textPreview ?? plainTextPreview;
  const linkTo = (
    url: string,
    name: string,
    isNamed = false,
  ): { link: string; expiresAt: number } => {
    const { code, expiresAt } = sessions.createLink(name, isNamed);
    return { link: `${url}/#login=${code}`, expiresAt };
  };
  const api = createApi({ ...options, textPreview, sessions, linkTo });
  const pages = await openPages(options.files, log);
  return {
    hasPages: pages !== undefined,
    createLink: (url, name) => linkTo(url, name).link,
    listening: (url) => {
      host.reachability.transport = 'http';
      host.reachability.url = url;
      host.reachability.console = true;
    },
    close: api.close,
    fetch: async (request, access) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/api' || pathname.startsWith('/api/')) return api.fetch(request, access);
      const page = pages?.(request);
      const refusal = page && access.checkOrigin(request.headers);
      return refusal ? Response.json({ error: refusal.message }, { status: refusal.status }) : page;
    },
  };
}

/** Without a built page, only the API is served: as from a checkout that is not built. */
async function openPages(files: string | undefined, log: HostLog): Promise<Pages | undefined> {
  try {
    return staticPages(files ?? (await import('@toolkeel/console')).files());
  } catch (cause) {
    log('warn', 'console_not_built', { cause });
    return undefined;
  }
}
