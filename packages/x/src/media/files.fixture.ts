/** Minimal files of a type and size. */
const padded = (head: Buffer, size: number): Buffer =>
  Buffer.concat([head, Buffer.alloc(Math.max(0, size - head.length))]);

export const png = (size: number): Buffer =>
  padded(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), size);
export const jpeg = (size: number): Buffer =>
  padded(Buffer.from('ffd8ffe000104a464946', 'hex'), size);
export const webp = (size: number): Buffer => padded(Buffer.from('RIFF\0\0\0\0WEBPVP8 '), size);
export const mp4 = (size: number): Buffer =>
  padded(Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0', 'latin1'), size);
export const mov = (size: number): Buffer =>
  padded(Buffer.from('\0\0\0\x14ftypqt  \0\0\x02\0', 'latin1'), size);
export const webm = (size: number): Buffer =>
  padded(Buffer.from('\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm', 'latin1'), size);

const FRAME = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]);

function gifOf(width: number, height: number, blocks: readonly Buffer[]): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  const colours = Buffer.alloc(6);
  return Buffer.concat([Buffer.from('GIF89a'), screen, colours, ...blocks, Buffer.from([0x3b])]);
}

export const animatedGif = (frames: number, width: number, height: number): Buffer =>
  gifOf(
    width,
    height,
    Array.from({ length: frames }, () => FRAME),
  );

/** One frame, padded with comments. */
export function gif(size: number): Buffer {
  const remark = Buffer.concat([Buffer.from([0x21, 0xfe]), Buffer.alloc(0)]);
  const blocks = Math.ceil(size / 256);
  const comment = Buffer.concat([
    remark,
    ...Array.from({ length: blocks }, () =>
      Buffer.concat([Buffer.from([255]), Buffer.alloc(255, 65)]),
    ),
    Buffer.from([0]),
  ]);
  return gifOf(10, 10, [comment, FRAME]);
}
