import { numberOf, textOf, type Doc } from '../json.js';

/** A file that X has, or may have. */
export interface There {
  readonly id: string;
  readonly mediaKey: string | undefined;
  readonly expiresInSecs: number | undefined;
}

/** What an answer of X says of a file, and what was known of it before. */
export function thereIn(id: string, answer: Doc, before?: There): There {
  return {
    id,
    mediaKey: textOf(answer['media_key']) ?? before?.mediaKey,
    expiresInSecs: numberOf(answer['expires_after_secs']) ?? before?.expiresInSecs,
  };
}
