import * as z from 'zod';
import type { JsonObject } from '../../json.js';
import {
  categories,
  type Category,
  categoryOf,
  kinds,
  mediaTypes,
  type Upload,
} from '../uploads.js';
import { invalid, missing } from '../problems.js';
import { bodyIn, idFrom, idSchema, numberIn } from './input.js';
import { commit, userOf, type Call, type Handler } from './call.js';

const initializeSchema = z.strictObject({
  media_type: z.enum(mediaTypes),
  total_bytes: z.int().min(0).max(17_179_869_184),
  media_category: z.exactOptional(z.enum(categories)),
  shared: z.exactOptional(z.boolean()),
  additional_owners: z.exactOptional(z.array(idSchema).max(100)),
});

/** Validates the combination of type, size and category. */
function checkedCategory(type: string, named: Category | undefined, bytes: number): Category {
  const category = named ?? categoryOf(type);
  const { accepts, largest } = kinds[category];
  if (!accepts.test(type))
    throw invalid(`Media type [${type}] is not supported for media category [${category}].`);
  if (bytes > largest)
    throw invalid(`File size [${bytes}] exceeds the maximum of ${largest} bytes for ${category}.`);
  return category;
}

function ownUpload(call: Call, id: string): Upload {
  const upload = call.uploads.of(id, userOf(call));
  if (!upload) throw missing('media', 'id', id);
  return upload;
}

function presentUpload({ uploads, world }: Call, upload: Upload): JsonObject {
  const processing = uploads.processing(upload);
  return {
    id: upload.id,
    media_key: upload.media.key,
    ...(upload.finalized && { size: upload.totalBytes }),
    expires_after_secs: Math.ceil((upload.expiresAt - world.clock.now()) / 1000),
    ...(processing && { processing_info: processing }),
  };
}

export const initialize: Handler = async (call) => {
  const body = await bodyIn(call.request, initializeSchema);
  const { media_type: type, total_bytes: bytes, media_category: named } = body;
  const category = checkedCategory(type, named, bytes);
  const upload = call.uploads.begin(call.world.newId(), userOf(call), category, bytes);
  commit(call, { kind: 'media.initialized', id: upload.id });
  return { body: { data: presentUpload(call, upload) } };
};

interface Piece {
  readonly bytes: number;
  readonly field: (name: string) => string | undefined;
}

const pieceSchema = z.looseObject({ media: z.base64() });

/** Reads a segment from a multipart form, or from base64 in JSON. */
async function pieceIn({ request, form: readForm }: Call): Promise<Piece> {
  if (!(request.headers.get('content-type') ?? '').startsWith('multipart/form-data')) {
    const { media, ...fields } = await bodyIn(request, pieceSchema);
    const field = (name: string): string | undefined => {
      const value = fields[name];
      return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    };
    return { bytes: Buffer.byteLength(media, 'base64'), field };
  }
  const form = await readForm().catch(() => undefined);
  const media = form?.get('media');
  if (!form || media === null || media === undefined)
    throw invalid('The `media` field is required.', { media: [] });
  const bytes = typeof media === 'string' ? Buffer.byteLength(media) : media.size;
  const field = (name: string): string | undefined => {
    const value = form.get(name);
    return typeof value === 'string' ? value : undefined;
  };
  return { bytes, field };
}

export const append: Handler = async (call) => {
  const upload = ownUpload(call, idFrom('id', call.param('id')));
  const { bytes, field } = await pieceIn(call);
  const given = new URLSearchParams({ segment_index: field('segment_index') ?? '' });
  const segment = numberIn(given, 'segment_index', { min: 0, max: 999, fallback: 0 });
  if (upload.finalized) throw invalid('The media has been finalized already.');
  upload.segments.set(segment, bytes);
  commit(call, { kind: 'media.appended', id: upload.id, segment });
  return { body: { data: { expires_at: Math.floor(upload.expiresAt / 1000) } } };
};

export const finalize: Handler = (call) => {
  const upload = ownUpload(call, idFrom('id', call.param('id')));
  const received = [...upload.segments.values()].reduce((sum, bytes) => sum + bytes, 0);
  const isWhole = [...upload.segments.keys()].every((index) => index < upload.segments.size);
  if (!isWhole || received !== upload.totalBytes)
    throw invalid('Segments do not add up to provided total file size.');
  if (!upload.finalized) {
    call.uploads.finalize(upload, call.exchange.inject('x-media-fails') !== undefined);
    commit(call, { kind: 'media.finalized', id: upload.id });
  }
  return { body: { data: presentUpload(call, upload) } };
};

export const status: Handler = (call) => {
  if (call.query.get('command') !== 'STATUS')
    throw invalid('The `command` query parameter must be STATUS', {
      command: [call.query.get('command') ?? ''],
    });
  const id = idFrom('media_id', call.query.get('media_id') ?? '');
  return { body: { data: presentUpload(call, ownUpload(call, id)) } };
};

/** Uploads a small file in one request. */
export const upload: Handler = async (call) => {
  const { bytes, field } = await pieceIn(call);
  const named = z.enum(categories).safeParse(field('media_category'));
  if (!named.success)
    throw invalid(`The \`media_category\` is not one of [${categories.join(',')}]`, {
      media_category: [field('media_category') ?? ''],
    });
  const type = field('media_type') ?? (named.data === 'tweet_gif' ? 'image/gif' : 'image/png');
  const category = checkedCategory(type, named.data, bytes);
  const begun = call.uploads.begin(call.world.newId(), userOf(call), category, bytes);
  call.uploads.finalize(begun, call.exchange.inject('x-media-fails') !== undefined);
  commit(call, { kind: 'media.finalized', id: begun.id });
  return { body: { data: presentUpload(call, begun) } };
};

const metadataSchema = z.strictObject({
  id: idSchema,
  metadata: z.looseObject({
    alt_text: z.exactOptional(z.strictObject({ text: z.string().min(1).max(1000) })),
  }),
});

export const metadata: Handler = async (call) => {
  const { id, metadata: given } = await bodyIn(call.request, metadataSchema);
  const { media } = ownUpload(call, id);
  if (given.alt_text) {
    media.altText = given.alt_text.text;
    commit(call, { kind: 'media.described', id });
  }
  const associated: JsonObject = given.alt_text ? { alt_text: given.alt_text } : {};
  return { body: { data: { id, associated_metadata: associated } } };
};
