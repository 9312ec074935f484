import type { ToolRun } from '@toolkeel/contract';
import { ProtocolError } from '@modelcontextprotocol/server';

/** Takes secrets out of whatever leaves the process. */
export interface Scrub {
  readonly text: (text: string) => string;
  readonly run: (run: Pick<ToolRun, 'envelope' | 'text'>) => Pick<ToolRun, 'envelope' | 'text'>;
  readonly value: <T>(value: T) => T;
  readonly error: (error: ProtocolError) => ProtocolError;
}

/**
 * Scrubs with a function over text. Most answers hold no secret, so that the usual cost is one search;
 * what was found is taken out of the JSON, and the value is read from there again.
 */
export function scrubWith(text: (text: string) => string): Scrub {
  const value = <T>(given: T): T => {
    const json = JSON.stringify(given) as string | undefined;
    if (json === undefined) return given;
    const clean = text(json);
    return clean === json ? given : (JSON.parse(clean) as T);
  };
  return {
    text,
    value,
    run: (run) => {
      const clean = text(run.text);
      if (clean === run.text) return run;
      return { text: clean, envelope: JSON.parse(clean) as ToolRun['envelope'] };
    },
    error: (error) => {
      const { code, message, data } = error;
      const clean = { message: text(message), data: value(data) };
      const isClean = clean.message === message && clean.data === data;
      return isClean ? error : new ProtocolError(code, clean.message, clean.data);
    },
  };
}
