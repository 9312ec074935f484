import { askAgain } from '../api/ask-again.js';
import type { Client } from '../api/client.js';
import type { Route } from '../api/routes.js';
import type { Doc } from '../json.js';
import { dataIn } from '../problems/data-in.js';
import type { Scope } from '../scope.js';
import { refuse, type Stage } from './failure.js';
import type { multipart } from './multipart.js';

export const UPLOADS: readonly string[] = ['2', 'media', 'upload'];

type Body = { readonly json: unknown } | { readonly form: ReturnType<typeof multipart> };

/** Sends what can be sent again: by position, or to the same end. */
export function sender({ requests }: Client, scope: Scope) {
  return async (stage: Stage, route: Route, path: readonly string[], body: Body): Promise<Doc> => {
    try {
      const request = { route, path, ...body };
      return await askAgain(scope, async () =>
        dataIn((await requests.idempotent(request, scope)).doc, 'optional'),
      );
    } catch (cause) {
      return refuse(stage, cause);
    }
  };
}
