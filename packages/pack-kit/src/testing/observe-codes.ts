import assert from 'node:assert/strict';
import {
  buildManifest,
  checkObservedCodes,
  type ObservedCode,
  type ToolSpec,
} from '@toolkeel/contract';

export interface CodeObserver {
  /** Records the code of a call. Fails if another one was expected. */
  readonly note: (tool: string, code: string, expected?: string) => void;
  /** Fails unless each tool returned exactly the codes that it declares; shared codes are optional. */
  readonly verify: () => void;
}

/** Compares the codes that tests observe with `possible_error_codes` of the manifest, in both directions. */
export function observeCodes(specs: readonly ToolSpec[]): CodeObserver {
  const manifest = buildManifest(specs);
  const observed: ObservedCode[] = [];
  return {
    note: (tool, code, expected = code) => {
      assert.deepEqual({ tool, code }, { tool, code: expected });
      observed.push({ tool, code });
    },
    verify: () => {
      assert.deepEqual(checkObservedCodes(manifest, observed), { unlisted: [], unseen: [] });
    },
  };
}
