import { countOf, type Doc } from '../json.js';

/** Members in which catalogues have been seen to keep the size of a file; the standard's first. */
const SIZE_MEMBERS = ['file:size', 'file:bytes', 'content_length', 'byte_size', 'bytes', 'size'];

/** The size of an asset's file, where its metadata says it. Nothing is no size. */
export function knownSize(asset: Doc): number | undefined {
  return SIZE_MEMBERS.map((name) => countOf(asset[name])).find(
    (size) => size !== undefined && size > 0,
  );
}
