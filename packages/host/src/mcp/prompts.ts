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
import { cacheUntilFailure } from '../promises.js';
import type { Scrub } from '../secret/secrets.js';
import { didYouMean } from '@toolkeel/pack-kit/base';
import type { RawPrompt } from './raw.js';

type Params = GetPromptRequest['params'];

/** Handles `prompts/list` and `prompts/get` for packs and raw prompts. */
export class Prompts {
  readonly #packs: readonly LoadedPack[];
  readonly #scrub: Scrub;
  readonly #raw = new Map<string, RawPrompt>();
  readonly #packPrompts = cacheUntilFailure(async () => {
    const lists = await Promise.all(this.#packs.map((pack) => pack.prompts()));
    return tableOf(lists.flat());
  });

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
    return new Map([...(await this.#packPrompts()), ...this.#raw]);
  }
}

function tableOf(prompts: readonly PackPrompt[]): ReadonlyMap<string, RawPrompt> {
  const table = new Map<string, RawPrompt>();
  for (const prompt of prompts) {
    if (table.has(prompt.name))
      throw new HostError(`two prompts are called ${prompt.name}: rename one of them`);
    table.set(prompt.name, {
      definition: listing(prompt),
      get: (params) => render(prompt, params),
    });
  }
  return table;
}

function listing({ name, title, description, input }: PackPrompt): Prompt {
  const args = Object.entries(input.shape).map(([argument, schema]) => {
    const { description: argumentDescription } = zodType(schema);
    return {
      name: argument,
      ...(argumentDescription !== undefined && { description: argumentDescription }),
      required: !schema.safeParse(undefined).success,
    };
  });
  return { name, title, description, arguments: args };
}

function render(prompt: PackPrompt, params: Params): GetPromptResult {
  const parsed = prompt.input.safeParse(params.arguments ?? {});
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    const message = `Invalid arguments for ${prompt.name}. ${issues.join('; ')}`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  }
  const text = prompt.render(parsed.data);
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  };
}
