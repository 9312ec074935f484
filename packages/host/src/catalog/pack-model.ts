import type { TextEvent, TextModel, TextModelError } from '@toolkeel/contract';
import type { LoadedPack } from './loaded-pack.js';

/** The model of a pack for the others. The pack is created when the model is used first. */
export function packModel(find: () => LoadedPack | undefined): TextModel {
  const load = async (): Promise<TextModel> => {
    const model = await find()?.model();
    if (!model) throw notConfigured();
    return model;
  };
  return {
    name: 'configured model',
    complete: async (request, context) => (await load()).complete(request, context),
    stream: async function* (request, context): AsyncGenerator<TextEvent, void, void> {
      let model: TextModel;
      try {
        model = await load();
      } catch (cause) {
        yield { type: 'error', error: cause as TextModelError };
        return;
      }
      yield* model.stream(request, context);
    },
    health: async () => (await find()?.model())?.health() ?? [],
  };
}

function notConfigured(): TextModelError {
  return Object.assign(new Error('No language model is configured.'), {
    fault: { kind: 'rejected', sent: 'no', final: true },
    provider: 'none',
    code: 'not_configured',
    phase: 'queued',
    retriable: false,
    attempts: 0,
    partialText: '',
  } as const);
}
