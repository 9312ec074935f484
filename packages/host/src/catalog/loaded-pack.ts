import type {
  Pack,
  PackDeps,
  PackInstance,
  PackPrompt,
  PackResource,
  Tool,
  ToolSpec,
} from '@toolkeel/contract';
import type * as z from 'zod';
import { HostError } from '../errors.js';

/** A pack and what the operator said about it. */
export interface PackEntry {
  readonly pack: Pack;
  /** As the pack's own schema wants it, before parsing. Default: `{}`. */
  readonly config?: unknown;
  /** The most that one call of its tools may take. */
  readonly callTimeoutMs?: number;
}

interface Opened {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly instance: Omit<PackInstance, 'tools'>;
}

/** A pack that is described at once and created when it is first needed. */
export class LoadedPack {
  readonly name: string;
  readonly specs: readonly ToolSpec[];
  readonly instructions: string | undefined;
  readonly callTimeoutMs: number | undefined;
  readonly #open: () => Promise<Opened>;
  #opened: Promise<Opened> | undefined;
  /** What `#opened` has brought, so that a call need not wait for what is there. */
  #at: Opened | undefined;

  /** `admits` says which tools may be registered: what it refuses is never held. */
  constructor(
    { pack, config = {}, callTimeoutMs }: PackEntry,
    admits: (spec: ToolSpec) => boolean,
    deps: PackDeps,
  ) {
    this.name = pack.name;
    this.callTimeoutMs = callTimeoutMs;
    const checked = checkConfig(pack, config);
    this.specs = pack.describe(checked).filter(admits);
    this.instructions = pack.instructions?.(checked);
    this.#open = async () => {
      const { tools, ...instance } = await pack.create(checked, deps);
      return { tools: pickTools(this.name, this.specs, tools), instance };
    };
  }

  tool(name: string): Tool | Promise<Tool> {
    const pick = ({ tools }: Opened): Tool => {
      const tool = tools.get(name);
      if (!tool) throw new HostError(`pack ${this.name} describes ${name} but does not have it`);
      return tool;
    };
    return this.#at ? pick(this.#at) : this.#ready().then(pick);
  }

  async resources(): Promise<readonly PackResource[]> {
    return (await this.#ready()).instance.resources ?? [];
  }

  async prompts(): Promise<readonly PackPrompt[]> {
    return (await this.#ready()).instance.prompts ?? [];
  }

  /** The instance where it is there already; nobody wakes a pack to ask how it is. */
  async current(): Promise<Omit<PackInstance, 'tools'> | undefined> {
    return (await this.#opened?.catch(() => undefined))?.instance;
  }

  async health(): Promise<Awaited<ReturnType<PackInstance['health']>>> {
    return (await this.#ready()).instance.health();
  }

  async close(): Promise<void> {
    const instance = await this.current();
    this.#opened = undefined;
    this.#at = undefined;
    await instance?.close();
  }

  /** What failed is tried again by the next call: an operator may have repaired it meanwhile. */
  #ready(): Promise<Opened> {
    if (this.#opened === undefined) {
      const opened = this.#open();
      this.#opened = opened;
      opened.then(
        (at) => {
          if (this.#opened === opened) this.#at = at;
        },
        () => {
          if (this.#opened === opened) this.#opened = undefined;
        },
      );
    }
    return this.#opened;
  }
}

function checkConfig(pack: Pack, config: unknown): z.output<Pack['configSchema']> {
  const parsed = pack.configSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = ['packs', pack.name, ...(issue?.path ?? [])].map(String).join('.');
  throw new HostError(`${where}: ${issue?.message ?? 'is not valid'}`);
}

/** Only what was described and admitted, with the effect that was described. */
function pickTools(
  pack: string,
  specs: readonly ToolSpec[],
  tools: readonly Tool[],
): ReadonlyMap<string, Tool> {
  const effects = new Map(specs.map(({ name, effect }) => [name, effect]));
  const picked = tools.filter(({ name }) => effects.has(name));
  const liar = picked.find(({ name, effect }) => effects.get(name) !== effect);
  if (liar)
    throw new HostError(`pack ${pack} describes ${liar.name} with another effect than it has`);
  return new Map(picked.map((tool) => [tool.name, tool]));
}
