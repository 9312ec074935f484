import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  UriTemplate,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { defineTool, type PackResource, type Tool } from '@toolkeel/contract';
import * as z from 'zod';
import { OK, type CallEngine } from '../call/engine.js';
import type { LoadedPack } from '../catalog/loaded-pack.js';
import { cacheUntilFailure } from '../promises.js';
import type { Scrub } from '../secret/secrets.js';
import type { RawResource } from './raw.js';

/** Larger than that of tools: a resource is usually not read into a model's context. */
const BYTE_BUDGET = 4 * 1024 * 1024;

/** Errors in the requested URI. */
const INVALID_URI_CODES: ReadonlySet<string> = new Set(['invalid_input', 'validation_error']);

interface Readable {
  readonly definition: Resource | ResourceTemplateType;
  readonly matches: (uri: string) => boolean;
  readonly read: (uri: string, context: ServerContext) => Promise<ReadResourceResult>;
}

/** Handles `resources/*` for packs and raw resources. */
export class Resources {
  readonly #packs: readonly LoadedPack[];
  readonly #engine: CallEngine;
  readonly #scrub: Scrub;
  readonly #raw: Readable[] = [];
  readonly #timeoutOf: (pack: LoadedPack) => number;
  readonly #packResources = cacheUntilFailure(async () => {
    const lists = await Promise.all(
      this.#packs.map(async (pack) => {
        const resources = await pack.resources();
        return resources.map((resource) => this.#packResource(resource, this.#timeoutOf(pack)));
      }),
    );
    return lists.flat();
  });

  constructor(
    packs: readonly LoadedPack[],
    engine: CallEngine,
    scrub: Scrub,
    timeoutOf: (pack: LoadedPack) => number,
  ) {
    this.#packs = packs;
    this.#engine = engine;
    this.#scrub = scrub;
    this.#timeoutOf = timeoutOf;
  }

  addRaw(raw: RawResource): void {
    const { definition } = raw;
    const matches = matcher(isTemplate(definition) ? definition.uriTemplate : definition.uri);
    this.#raw.push({
      definition,
      matches,
      read: (uri, context) => this.#readRaw(raw, uri, context),
    });
  }

  async list(): Promise<ListResourcesResult> {
    const all = (await this.#all()).map(({ definition }) => definition);
    return this.#scrub.value({
      resources: all.filter((item): item is Resource => !isTemplate(item)),
    });
  }

  async listTemplates(): Promise<ListResourceTemplatesResult> {
    const all = (await this.#all()).map(({ definition }) => definition);
    return this.#scrub.value({ resourceTemplates: all.filter(isTemplate) });
  }

  async read(uri: string, context: ServerContext): Promise<ReadResourceResult> {
    const resource = (await this.#all()).find(({ matches }) => matches(uri));
    if (!resource) throw this.#scrub.error(new ResourceNotFoundError(uri));
    return this.#scrub.value(await resource.read(uri, context));
  }

  async #all(): Promise<readonly Readable[]> {
    return [...(await this.#packResources()), ...this.#raw];
  }

  #packResource(resource: PackResource, timeoutMs: number): Readable {
    const { uriTemplate, name, title, description, mimeType } = resource;
    const common = { name, title, description, mimeType };
    const tool = readingTool(resource);
    const callable = {
      spec: tool,
      load: () => tool,
      name: `resource:${name}`,
      timeoutMs,
      byteBudget: BYTE_BUDGET,
      reportsEvents: true,
    };
    return {
      definition: UriTemplate.isTemplate(uriTemplate)
        ? { uriTemplate, ...common }
        : { uri: uriTemplate, ...common },
      matches: matcher(uriTemplate),
      read: async (uri, context) => {
        const { envelope } = await this.#engine.run(callable, { uri }, context);
        if (envelope.success) return { contents: [{ uri, mimeType, text: String(envelope.data) }] };
        const { code, message, ...error } = envelope.error;
        const data = { code, ...error, correlation_id: envelope.meta.correlation_id };
        if (code === 'not_found') throw new ResourceNotFoundError(uri, message);
        const kind = INVALID_URI_CODES.has(code) ? 'InvalidParams' : 'InternalError';
        throw this.#scrub.error(new ProtocolError(ProtocolErrorCode[kind], message, data));
      },
    };
  }

  async #readRaw(
    raw: RawResource,
    uri: string,
    context: ServerContext,
  ): Promise<ReadResourceResult> {
    const call = this.#engine.begin(`resource:${raw.definition.name}`, Infinity, context);
    let code = 'error';
    try {
      const result = await raw.read(uri, context);
      code = OK;
      return result;
    } finally {
      this.#engine.end(call, code);
    }
  }
}

/** Resources are read as calls: with a time limit, metrics, log lines and typed errors. */
function readingTool({ name, title, description, read }: PackResource): Tool {
  return defineTool({
    name: 'read_resource',
    title: title || name,
    description: description || name,
    effect: 'read',
    input: z.object({ uri: z.string() }),
    output: z.string(),
    handler: ({ uri }, context) => read(uri, context),
  });
}

function isTemplate(
  definition: Resource | ResourceTemplateType,
): definition is ResourceTemplateType {
  return 'uriTemplate' in definition;
}

function matcher(template: string): (uri: string) => boolean {
  if (!UriTemplate.isTemplate(template)) return (uri) => uri === template;
  const parsed = new UriTemplate(template);
  return (uri) => parsed.match(uri) !== null;
}
