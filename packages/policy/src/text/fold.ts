import { nfkc } from './nfkc.js';

/** Looking into longer texts could take noticeable time; what is not looked into cannot be told. */
export const MAX_TEXT = 1_000_000;

/** Compatibility forms become plain ones, and what nobody sees is gone: `ｅｘ\u200bample` is `example`. */
export function plain(text: string): string {
  if (!/[^\x20-\x7e\t\n\r]/.test(text)) return text; // most texts
  return nfkc(text).replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
}

/** As people compare texts: without case, and with one space where there are several. */
export function fold(text: string): string {
  return plain(text).toLowerCase().replaceAll(/\s+/g, ' ');
}
