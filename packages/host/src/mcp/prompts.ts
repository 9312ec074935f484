import {
  ProtocolError,
  ProtocolErrorCode,
  type GetPromptRequest,
  type GetPromptResult,
  type InputRequiredResult,
  type ListPromptsResult,
  type Prompt,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { zodType, type PackPrompt } from '@toolkeel/contract';
import type { LoadedPack } from '../catalog/loaded-pack.js';
import { HostError } from '../errors.js';
import type { Scrub } from '../secret/scrub.js';
import { didYouMean } from '@toolkeel/pack-kit';
import type { RawPrompt } from './raw.js';

type Params = GetPromptRequest['params'];

/** Serves the prompts of packs and raw handlers. */
export class Prompts {
  readonly #packs: readonly LoadedPack[];
  readonly #scrub: Scrub;
  readonly #raw = new Map<string, RawPrompt>();
  #ofPacks: Promise<ReadonlyMap<string, RawPrompt>> | undefined;

  constructor(packs: readonly LoadedPack[], scrub: Scrub) {
    this.#packs = packs;
    this.#scrub = scrub;
  }

  addRaw(prompt: RawPrompt): void {
    this.#raw.set(prompt.definition.name, prompt);
  }

  async list(): Promise<ListPromptsResult> {
    const all = await this.#all();
    return this.#scrub.value({ prompts: [...all.values()].map(({ definition }) => definition) });
  }

  async get(
    params: Params,
    context: ServerContext,
  ): Promise<GetPromptResult | InputRequiredResult> {
    const all = await this.#all();
    const prompt = all.get(params.name);
    if (!prompt) {
      const message = `There is no prompt "${params.name.slice(0, 100)}".${didYouMean(params.name, all.keys())}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, this.#scrub.text(message));
    }
    return this.#scrub.value(await prompt.get(params, context));
  }

  async #all(): Promise<ReadonlyMap<string, RawPrompt>> {
    return new Map([...(await this.#readPacks()), ...this.#raw]);
  }

  #readPacks(): Promise<ReadonlyMap<string, RawPrompt>> {
    if (this.#ofPacks === undefined) {
      const reading = Promise.all(this.#packs.map((pack) => pack.prompts())).then((lists) =>
        tableOf(lists.flat()),
      );
      this.#ofPacks = reading;
      reading.catch(() => {
        this.#ofPacks = undefined;
      });
    }
    return this.#ofPacks;
  }
}

function tableOf(prompts: readonly PackPrompt[]): ReadonlyMap<string, RawPrompt> {
  const table = new Map<string, RawPrompt>();
  for (const prompt of prompts) {
    if (table.has(prompt.name)) throw new HostError(`two prompts are called ${prompt.name}`);
    table.set(prompt.name, {
      definition: listing(prompt),
      get: (params) => render(prompt, params),
    });
  }
  return table;
}

function listing({ name, title, description, input }: PackPrompt): Prompt {
  const args = Object.entries(input.shape).map(([argument, schema]) => {
    const { description: about } = zodType(schema);
    return {
      name: argument,
      ...(about !== undefined && { description: about }),
      required: !schema.safeParse(undefined).success,
    };
  });
  return { name, title, description, arguments: args };
}

function render(prompt: PackPrompt, params: Params): GetPromptResult {
  const parsed = prompt.input.safeParse(params.arguments ?? {});
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const message = `The arguments of ${prompt.name} were refused. ${issues.join('; ')}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const text = prompt.render(parsed.data);
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}
