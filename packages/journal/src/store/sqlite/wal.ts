import { closeSync, openSync, readSync } from 'node:fs';

/** https://www.sqlite.org/fileformat2.html#walformat */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC_LITTLE_ENDIAN = 0x377f_0682;
const MAGIC_BIG_ENDIAN = 0x377f_0683;
const CHUNK_BYTES = 1 << 20;

/** The header of a write-ahead log. */
interface Log {
  readonly isLittleEndian: boolean;
  readonly pageBytes: number;
  readonly salt: Pair;
  readonly sum: Pair;
}

type Pair = readonly [number, number];

/**
 * Whether SQLite would drop commits from this write-ahead log. Recovery ends at the first frame with a
 * wrong checksum and ignores every later frame without an error. A torn last transaction is normal after
 * a power cut, so a frame counts as damaged only if two commits follow it: the second commit started
 * after the disk had confirmed the first.
 */
export function isLogDamaged(path: string): boolean {
  const frame = damagedFrame(path);
  // Another process may be writing: a frame that was incomplete is complete at the second read.
  return frame !== undefined && frame === damagedFrame(path);
}

/** Identifies the first damaged frame, if any. */
function damagedFrame(path: string): string | undefined {
  const file = openIfPresent(path);
  if (file === undefined) return undefined;
  try {
    const log = readHeader(file);
    const index = log && firstDamaged(file, log);
    return index === undefined ? undefined : `${log!.salt.join()} ${index}`;
  } finally {
    closeSync(file);
  }
}

function openIfPresent(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined for a log without a valid header, which SQLite ignores as a whole. */
function readHeader(file: number): Log | undefined {
  const header = read(file, 0, HEADER_BYTES);
  if (header.byteLength < HEADER_BYTES) return undefined;
  const magic = header.getUint32(0);
  if (magic !== MAGIC_LITTLE_ENDIAN && magic !== MAGIC_BIG_ENDIAN) return undefined;
  const isLittleEndian = magic === MAGIC_LITTLE_ENDIAN;
  const sum = addTo([0, 0], header, 0, 24, isLittleEndian);
  if (!isSame(sum, pairAt(header, 24))) return undefined;
  return { isLittleEndian, pageBytes: header.getUint32(8), salt: pairAt(header, 16), sum };
}

/** The first frame that recovery would reject although two commits follow it. */
function firstDamaged(file: number, log: Log): number | undefined {
  const frameBytes = FRAME_HEADER_BYTES + log.pageBytes;
  const framesAtOnce = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  let before = log.sum;
  let rejected: number | undefined;
  let commitsAfter = 0;
  for (let first = 0; ; first += framesAtOnce) {
    const chunk = read(file, HEADER_BYTES + first * frameBytes, framesAtOnce * frameBytes);
    const frames = Math.floor(chunk.byteLength / frameBytes);
    for (let index = 0; index < frames; index += 1) {
      const at = index * frameBytes;
      if (isValid(chunk, at, log, before)) {
        const isCommit = chunk.getUint32(at + 4) !== 0;
        if (rejected !== undefined && isCommit) commitsAfter += 1;
        if (commitsAfter === 2) return rejected;
      } else {
        // Usually the end of the log, followed by frames of an earlier checkpoint with another salt.
        rejected ??= first + index;
      }
      // A checksum continues from the stored previous one, so frames after a damaged one can be verified.
      before = pairAt(chunk, at + 16);
    }
    if (frames < framesAtOnce) return undefined;
  }
}

function isValid(chunk: DataView, at: number, log: Log, before: Pair): boolean {
  const { isLittleEndian, pageBytes, salt } = log;
  if (!isSame(pairAt(chunk, at + 8), salt)) return false;
  const head = addTo(before, chunk, at, 8, isLittleEndian);
  const sum = addTo(head, chunk, at + FRAME_HEADER_BYTES, pageBytes, isLittleEndian);
  return isSame(sum, pairAt(chunk, at + 16));
}

function read(file: number, position: number, bytes: number): DataView {
  const buffer = new Uint8Array(bytes);
  return new DataView(buffer.buffer, 0, readSync(file, buffer, 0, bytes, position));
}

function pairAt(view: DataView, at: number): Pair {
  return [view.getUint32(at), view.getUint32(at + 4)];
}

function isSame(one: Pair, other: Pair): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

/** SQLite's checksum over `bytes` (a multiple of eight), continued from `sum`. */
function addTo(
  sum: Pair,
  view: DataView,
  at: number,
  bytes: number,
  isLittleEndian: boolean,
): Pair {
  let [a, b] = sum;
  for (let i = at; i < at + bytes; i += 8) {
    a = (a + view.getUint32(i, isLittleEndian) + b) >>> 0;
    b = (b + view.getUint32(i + 4, isLittleEndian) + a) >>> 0;
  }
  return [a, b];
}
