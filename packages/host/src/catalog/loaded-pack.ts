import {
  ofPack,
  type Pack,
  type PackDeps,
  type PackInstance,
  type PackPrompt,
  type PackResource,
  type TextModel,
  type Tool,
  type ToolSpec,
  type UpstreamState,
} from '@toolkeel/contract';
import type * as z from 'zod';
import { HostError } from '../errors.js';

/** A pack and its settings. */
export interface PackEntry {
  readonly pack: Pack;
  /** The input of the pack's configuration schema. Default: `{}`. */
  readonly config?: unknown;
  /** The time limit of a call. */
  readonly callTimeoutMs?: number;
  /** Names of tools that are not registered. */
  readonly excluded?: ReadonlySet<string>;
}

const EFFECTS: readonly unknown[] = ['read', 'idempotent', 'once'];

/**
 * Why a value is not a description that `defineTool` or `specifyTool` created; undefined if it is one. A
 * pack in JavaScript may contain an object of its own, whose mutation would bypass the journal.
 */
export function specProblem(spec: unknown): string | undefined {
  const { name, effect, mutation, profiles, possibleCodes, inputSchema, input } = Object(
    spec,
  ) as Partial<ToolSpec>;
  if (typeof name !== 'string') return 'a tool has no name: create it with defineTool';
  const isCreated =
    EFFECTS.includes(effect) &&
    mutation === (effect !== 'read') &&
    Array.isArray(profiles) &&
    Array.isArray(possibleCodes) &&
    typeof inputSchema === 'object' &&
    typeof input?.safeParse === 'function';
  return isCreated ? undefined : `the tool ${name} was not created with defineTool`;
}

interface CreatedPack {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly instance: Omit<PackInstance, 'tools'>;
}

/** A pack that is described at start and created on first use. */
export class LoadedPack {
  readonly name: string;
  readonly specs: readonly ToolSpec[];
  readonly instructions: string | undefined;
  readonly callTimeoutMs: number | undefined;
  readonly providesModel: boolean;
  readonly #create: () => Promise<CreatedPack>;
  #creating: Promise<CreatedPack> | undefined;
  /** The resolved value of `#creating`, so that calls need not await it. */
  #created: CreatedPack | undefined;

  /** Tools that `admits` rejects are dropped, not only hidden. */
  constructor(
    { pack, config = {}, callTimeoutMs, excluded }: PackEntry,
    admits: (spec: ToolSpec) => boolean,
    deps: PackDeps,
  ) {
    this.name = pack.name;
    this.callTimeoutMs = callTimeoutMs;
    this.providesModel = pack.providesModel === true;
    const settings = parseConfig(pack, config);
    const specs = pack.describe(settings);
    requireSpecs(this.name, specs);
    this.specs = ofPack(this.name, specs).filter(
      (spec) => admits(spec) && !excluded?.has(spec.name),
    );
    this.instructions = pack.instructions?.(settings);
    this.#create = async () => {
      const { tools, ...instance } = await pack.create(settings, deps);
      return { tools: pickTools(this.name, this.specs, tools), instance };
    };
  }

  tool(name: string): Tool | Promise<Tool> {
    const pick = ({ tools }: CreatedPack): Tool => {
      const tool = tools.get(name);
      if (!tool) throw new HostError(`pack ${this.name} describes ${name} but does not create it`);
      return tool;
    };
    return this.#created ? pick(this.#created) : this.#ensureCreated().then(pick);
  }

  async resources(): Promise<readonly PackResource[]> {
    return (await this.#ensureCreated()).instance.resources ?? [];
  }

  async prompts(): Promise<readonly PackPrompt[]> {
    return (await this.#ensureCreated()).instance.prompts ?? [];
  }

  async model(): Promise<TextModel | undefined> {
    return (await this.#ensureCreated()).instance.model;
  }

  /** The upstreams, if the pack is created already. */
  get upstreams(): readonly UpstreamState[] {
    return this.#created?.instance.upstreams?.() ?? [];
  }

  /** The instance if the pack is created already. */
  async current(): Promise<Omit<PackInstance, 'tools'> | undefined> {
    return (await this.#creating?.catch(() => undefined))?.instance;
  }

  async health(): Promise<Awaited<ReturnType<PackInstance['health']>>> {
    return (await this.#ensureCreated()).instance.health();
  }

  async close(): Promise<void> {
    const instance = await this.current();
    this.#creating = undefined;
    this.#created = undefined;
    await instance?.close();
  }

  /** The next call retries a failed creation: the operator may have fixed the cause. */
  #ensureCreated(): Promise<CreatedPack> {
    if (this.#creating === undefined) {
      const creating = this.#create();
      this.#creating = creating;
      creating.then(
        (created) => {
          if (this.#creating === creating) this.#created = created;
        },
        () => {
          if (this.#creating === creating) this.#creating = undefined;
        },
      );
    }
    return this.#creating;
  }
}

function parseConfig(pack: Pack, config: unknown): z.output<Pack['configSchema']> {
  const parsed = pack.configSchema.safeParse(config);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = ['packs', pack.name, ...(issue?.path ?? [])].map(String).join('.');
  throw new HostError(`${where}: ${issue?.message ?? 'is not valid'}`);
}

/** Keeps the described and admitted tools. Throws if an effect differs from its description. */
function pickTools(
  pack: string,
  specs: readonly ToolSpec[],
  tools: readonly Tool[],
): ReadonlyMap<string, Tool> {
  const effects = new Map(specs.map(({ name, effect }) => [name, effect]));
  const picked = ofPack(pack, tools).filter(({ name }) => effects.has(name));
  requireSpecs(pack, picked);
  const mismatch = picked.find(({ name, effect }) => effects.get(name) !== effect);
  if (mismatch)
    throw new HostError(`pack ${pack} describes ${mismatch.name} with a different effect`);
  return new Map(picked.map((tool) => [tool.name, tool]));
}

function requireSpecs(pack: string, specs: readonly ToolSpec[]): void {
  const problem = specs.map(specProblem).find((found) => found !== undefined);
  if (problem !== undefined) throw new HostError(`pack ${pack}: ${problem}`);
}
