export interface Gif {
  readonly width: number;
  readonly height: number;
  readonly frames: number;
}

const EXTENSION = 0x21;
const IMAGE = 0x2c;
const END = 0x3b;

/** The size of a GIF and how many pictures it has; undefined if its structure is broken. */
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

/** How many bytes the colours take, if there are any. */
function colourTable(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0;
}

/** Behind a chain of blocks that each begin with their length and end with an empty one. */
function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const length = bytes[at];
    // Beyond the end: whoever reads on finds no block there.
    if (length === undefined || length === 0) return at + 1;
    at += 1 + length;
  }
}
