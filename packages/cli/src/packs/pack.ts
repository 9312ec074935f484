import type { Environment, PackBinding } from '@toolkeel/host';
import type { Flag } from '@toolkeel/sandbox';

export type Settings = Readonly<Record<string, unknown>>;

/** A local upstream that stands in for the real one. */
export interface SandboxUpstream {
  /** The complete configuration of the pack: it uses this upstream and no other. */
  readonly settings: Settings;
  /** Addresses by purpose, such as `api` and `control`. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Environment variables for a server in another process. They contain no real credential. */
  readonly environment: Readonly<Record<string, string>>;
  /** The app id and the environment variables for `toolkeel login`. */
  readonly login?: {
    readonly clientId: string;
    readonly environment: Readonly<Record<string, string>>;
  };
  readonly close: () => Promise<void>;
}

export interface LoginRequest {
  /** The pack's settings from the configuration and the environment. */
  readonly settings: unknown;
  readonly dataDir: string;
  readonly env: Environment;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** The port of the redirect address. */
  readonly port?: number;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
  /** Receives the authorization URL to open in a browser. */
  readonly onUrl: (url: string) => void;
  readonly onStranger: () => void;
}

export interface LoggedIn {
  /** The account name, if the upstream returns one. */
  readonly name: string | undefined;
  readonly file: string;
  /** Why the current configuration does not use the login. */
  readonly unused?: string;
}

/** A pack as the commands use it. */
export interface CliPack {
  /** Loads the pack's descriptions and configuration schema, but not its client. */
  readonly load: () => Promise<PackBinding>;
  /** A first call to try, which works with any upstream. */
  readonly firstCall?: { readonly name: string; readonly arguments: Settings };
  /** A mutation whose response the sandbox can lose, to show that it is not executed twice. */
  readonly demonstration?: {
    readonly call: { readonly name: string; readonly arguments: Settings };
    /** Fault injection rules of the sandbox that lose the response to the next such call. */
    readonly faults: readonly Settings[];
  };
  readonly sandbox: {
    /** `flags`: values from the command line, by flag name. */
    readonly start: (flags: Settings) => Promise<SandboxUpstream>;
  };
  /** For upstreams that require a user login. */
  readonly login?: (request: LoginRequest) => Promise<LoggedIn>;
  /** Additional checks of `doctor`. Findings contain no secret. */
  readonly check?: (settings: unknown) => Promise<readonly Finding[]>;
}

/** A pack of this package, which also has flags of `sandbox` and a question of `init`. */
export interface BuiltinPack extends CliPack {
  readonly firstCall: NonNullable<CliPack['firstCall']>;
  readonly sandbox: CliPack['sandbox'] & {
    readonly flags: () => Promise<readonly Flag[]>;
  };
  /** The question of `init`, and the settings for its answer. */
  readonly setup: {
    /** Whether the pack works without a credential. */
    readonly isReady: boolean;
    readonly question: string;
    readonly placeholder: string;
    readonly settings: (url: string) => Settings;
  };
}

/** A result of `toolkeel doctor`. */
export interface Finding {
  readonly status: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly detail: string;
  /** How to fix it. */
  readonly advice?: string;
}
