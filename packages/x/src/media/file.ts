import { constants } from 'node:fs';
import * as files from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { raise, toolError } from '@toolkeel/contract';

export interface OpenMedia {
  readonly file: files.FileHandle;
  readonly size: number;
}

/**
 * Opens a file below one of the folders, after resolving symbolic links. A relative path is relative to one
 * of the folders.
 */
export async function openMedia(
  path: string,
  folders: readonly string[],
  open: typeof files.open = files.open,
): Promise<OpenMedia> {
  if (folders.length === 0) {
    rejectPath('no upload folder is configured. The operator must set mediaDirectories');
  }
  if (path.includes('\0')) rejectPath('not a valid path');
  const roots = await Promise.all(
    folders.map((folder) => files.realpath(folder).catch(() => undefined)),
  );
  const known = roots.filter((root) => root !== undefined);
  const candidates = isAbsolute(path) ? [path] : known.map((root) => join(root, path));
  for (const candidate of candidates) {
    const opened = await openBelow(candidate, known, open);
    if (opened) return opened;
  }
  return rejectPath('does not exist, or is outside the configured upload folders');
}

async function openBelow(
  path: string,
  roots: readonly string[],
  open: typeof files.open,
): Promise<OpenMedia | undefined> {
  const real = await files.realpath(path).catch(() => undefined);
  if (real === undefined || !roots.some((root) => isBelow(real, root))) return undefined;
  // O_NONBLOCK, or opening a FIFO without a writer would hang; O_NOFOLLOW, against a link created meanwhile.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(real, flags).catch(() => rejectPath('cannot be read'));
  try {
    const opened = await file.stat();
    if (!opened.isFile()) rejectPath('is not a file');
    if (opened.size === 0) rejectPath('is empty');
    // A parent folder may have been replaced between realpath and open.
    const again = await files.realpath(path).catch(() => '');
    const current = await files.stat(again).catch(() => undefined);
    const isSame = current?.ino === opened.ino && current.dev === opened.dev;
    if (!isSame || !roots.some((root) => isBelow(again, root)))
      rejectPath('changed while it was opened');
    return { file, size: opened.size };
  } catch (cause) {
    await file.close();
    throw cause;
  }
}

function isBelow(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== '' && rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** The message does not reveal whether a file exists outside the upload folders. */
function rejectPath(why: string): never {
  return raise(toolError('file_read_error', `file_path: ${why}.`, { outcome: 'not_executed' }));
}

type MediaCategory = 'tweet_image' | 'tweet_gif' | 'tweet_video';

/** Opens a media file, determines its kind and closes the file after `use`. */
export async function withMedia<T>(
  path: string,
  folders: readonly string[],
  use: (media: OpenMedia, kind: MediaKind) => Promise<T>,
): Promise<T> {
  const media = await openMedia(path, folders);
  try {
    return await use(media, await kindOf(media));
  } finally {
    await media.file.close();
  }
}

/** Determines the kind from the content, and rejects a size that X rejects before anything is sent. */
async function kindOf({ file, size }: OpenMedia): Promise<MediaKind> {
  const head = await readBytes(file, Math.min(size, SNIFF_BYTES));
  const kind = sniff(head);
  if (!kind) {
    return raise(
      toolError('unsupported_media_type', 'file_path: not an image or video type that X accepts.', {
        outcome: 'not_executed',
        details: { supported: [...supportedTypes] },
      }),
    );
  }
  checkSize(kind, size);
  if (kind.category !== 'tweet_gif') return kind;
  const gif = kindOfGif(await readBytes(file, size));
  if ('problem' in gif) return rejectMedia(gif.problem);
  checkSize(gif, size);
  return gif;
}

async function readBytes(file: OpenMedia['file'], length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

function checkSize({ category }: MediaKind, size: number): void {
  const limit = sizeLimits[category];
  if (size > limit) rejectMedia(`has ${size} bytes; X accepts ${limit}`);
}

function rejectMedia(problem: string): never {
  return raise(
    toolError('media_upload_error', `file_path: ${problem}.`, {
      outcome: 'not_executed',
      details: { stage: 'check' },
    }),
  );
}

/** The type of a file, determined from its content. */
export interface MediaKind {
  readonly type: string;
  readonly category: MediaCategory;
}

/** How many leading bytes `sniff` needs. */
const SNIFF_BYTES = 4_096;

export const supportedTypes: readonly string[] = Object.freeze([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'video/mp4',
  'video/quicktime',
  'video/webm',
]);

const image = (type: string): MediaKind => ({ type, category: 'tweet_image' });
const video = (type: string): MediaKind => ({ type, category: 'tweet_video' });

/** The kind of a file from its first bytes; undefined for a type that X does not accept. */
export function sniff(head: Buffer): MediaKind | undefined {
  const latin = head.toString('latin1');
  if (latin.startsWith('\xFF\xD8\xFF')) return image('image/jpeg');
  if (latin.startsWith('\x89PNG\r\n\x1A\n')) return image('image/png');
  if (/^RIFF.{4}WEBP/s.test(latin)) return image('image/webp');
  if (/^GIF8[79]a/.test(latin)) return { type: 'image/gif', category: 'tweet_gif' };
  if (/^.{4}ftypqt {2}/s.test(latin)) return video('video/quicktime');
  if (/^.{4}ftyp(?:iso|mp4|avc1|M4V|dash|MSNV|f4v)/s.test(latin)) return video('video/mp4');
  if (latin.startsWith('\x1A\x45\xDF\xA3') && latin.slice(0, 64).includes('webm')) {
    return video('video/webm');
  }
  return undefined;
}

const MB = 1_000_000;

/** X's maximum sizes, in bytes. */
export const sizeLimits: Readonly<Record<MediaCategory, number>> = Object.freeze({
  tweet_image: 5 * MB,
  tweet_gif: 15 * MB,
  tweet_video: 512 * MB,
});

/** X's limit for all frames together, besides those for the frame size and count. */
const MAX_GIF_PIXELS = 300_000_000;

/** The kind of a GIF, or why X rejects it. A GIF with one frame has the size limit of an image. */
export function kindOfGif(bytes: Buffer): MediaKind | { readonly problem: string } {
  const gif = readGif(bytes);
  if (!gif) return { problem: 'is a malformed GIF' };
  if (gif.frames <= 1) return image('image/gif');
  const { width, height, frames } = gif;
  if (width > 1280 || height > 1080) {
    return {
      problem: `has ${width} × ${height} pixels; X accepts animated GIFs up to 1280 × 1080`,
    };
  }
  if (frames > 350) return { problem: `has ${frames} frames; X accepts 350` };
  const pixels = width * height * frames;
  if (pixels > MAX_GIF_PIXELS) {
    return { problem: `has ${pixels} pixels in all frames; X accepts ${MAX_GIF_PIXELS}` };
  }
  return { type: 'image/gif', category: 'tweet_gif' };
}

interface Gif {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const END = 0x3b;

/** The dimensions and frame count of a GIF; undefined if it is malformed. */
export function readGif(bytes: Buffer): Gif | undefined {
  if (bytes.length < 13 || !/^GIF8[79]a/.test(bytes.toString('latin1', 0, 6))) return undefined;
  const width = bytes.readUInt16LE(6);
  const height = bytes.readUInt16LE(8);
  let at = 13 + colourTable(bytes[10] ?? 0);
  for (let frames = 0; ;) {
    const block = bytes[at];
    if (block === END) return { width, height, frames };
    if (block === EXTENSION) at = afterSubBlocks(bytes, at + 2);
    else if (block === IMAGE) {
      frames++;
      at = afterSubBlocks(bytes, at + 11 + colourTable(bytes[at + 9] ?? 0));
    } else return undefined;
  }
}

/** The length of the colour table in bytes. */
function colourTable(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

/** The position after a chain of length-prefixed blocks that ends with an empty block. */
function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = bytes[at];
    // Past the end of the file, where the caller finds no block.
    if (length === undefined || length === 0) return at + 1;
    at += 1 + length;
  }
}
