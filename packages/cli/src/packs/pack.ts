import type { Environment, PackBinding } from '@toolkeel/host';
import type { Flag } from '@toolkeel/sandbox';

export type Settings = Readonly<Record<string, unknown>>;

/** A local upstream that stands in for the real one. */
export interface SandboxUpstream {
  /** The pack's whole configuration: it leads to this upstream and to nothing else. */
  readonly settings: Settings;
  /** What a person or a test may want to open, by what it is. */
  readonly addresses: Readonly<Record<string, string>>;
  /** The variables by which a server in another process comes here. What they hold opens nothing real. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where somebody can log in: as which app, and the variables that `toolkeel login` needs for it. */
  readonly login?: {
    readonly clientId: string;
    readonly environment: Readonly<Record<string, string>>;
  };
  readonly close: () => Promise<void>;
}

/** Somebody logs in, so that a pack may act for them. */
export interface LoginRequest {
  /** What configuration and environment say of the pack. */
  readonly settings: unknown;
  readonly dataDir: string;
  readonly env: Environment;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** Of the address to which the browser comes back. */
  readonly port?: number;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** For the person, who opens it. */
  readonly onUrl: (url: string) => void;
  readonly onStranger: () => void;
}

export interface LoggedIn {
  /** As whom, where the upstream says it. */
  readonly name: string | undefined;
  readonly file: string;
  /** Why it will not be used as it stands. */
  readonly unused?: string;
}

/** What this package knows of a pack. */
export interface CliPack {
  /** Its tools and how it is configured. Loads the pack, and nothing that it needs to run. */
  readonly load: () => Promise<PackBinding>;
  /** A call that is worth trying first, and works with any upstream. */
  readonly firstCall: { readonly name: string; readonly arguments: Settings };
  readonly sandbox: {
    readonly flags: () => Promise<readonly Flag[]>;
    /** With what was said on the command line, by the names of the flags. */
    readonly start: (flags: Settings) => Promise<SandboxUpstream>;
  };
  /** What `init` asks, and what follows from the answer. */
  readonly setup: {
    /** Whether it is of use before anybody has given it a credential. */
    readonly isReady: boolean;
    readonly question: string;
    readonly placeholder: string;
    readonly settings: (url: string) => Settings;
  };
  /** Where its upstream wants to know for whom it acts. */
  readonly login?: (request: LoginRequest) => Promise<LoggedIn>;
  /** What `doctor` looks at besides the upstream. Nothing that it finds holds a secret. */
  readonly check?: (settings: unknown) => Promise<readonly Finding[]>;
}

/** One thing that doctor looked at. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}
