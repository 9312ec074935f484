import type { CreateLinkResponse, SessionResponse, SignOutResponse } from '@toolkeel/console';
import type { Context } from 'hono';
import * as z from 'zod';
import type { RouteDeps, Routes } from '../api.js';
import type { Operator } from '../access.js';
import { ApiError } from '../errors.js';
import { iso } from '../process-view.js';
import { operatorName, readBody } from '../request.js';
import { defaultName } from '../operator-name.js';
import { cookieName, sessionCookie } from '../sessions.js';

const signIn = z.strictObject({
  code: z.string().min(1).max(200),
  name: operatorName.optional(),
});
const createLink = z.strictObject({ name: operatorName.optional() });

/** The only route without a credential. It yields a session for a code that works once. */
export function signInRoute(deps: RouteDeps) {
  const { sessions, journal, log } = deps;
  return async (context: Context): Promise<Response> => {
    const { code, name } = await readBody(context.req.raw, signIn);
    const signed = sessions.signIn(code, name);
    if (!signed) {
      // Only wrong codes: otherwise anyone who can reach the server could lock the operators out.
      if (sessions.isThrottled) {
        const message = 'Too many wrong codes were tried.';
        throw new ApiError(429, 'too_many', message, 'Open a new link: toolkeel console.');
      }
      log('warn', 'console_sign_in_refused', {});
      throw new ApiError(
        401,
        'invalid_code',
        'The link was used already, or has expired.',
        'Create a new one: toolkeel console.',
      );
    }
    const { id, session } = signed;
    try {
      const { store } = await journal();
      await store.audit({ kind: 'console_signed_in', actor: session.name });
    } catch (cause) {
      sessions.signOut(id);
      throw cause;
    }
    log('info', 'console_signed_in', { by: session.name });
    const body = await sessionView(deps, { by: 'link', name: session.name, session });
    const maxAgeMs = session.expiresAt - Date.now();
    const cookie = { maxAgeMs, isSecure: isSecure(context.req.raw) };
    return Response.json(body, {
      headers: {
        'set-cookie': sessionCookie(nameOf(context.req.raw), id, cookie),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    });
  };
}

export function sessionRoutes(deps: RouteDeps): Routes {
  const { sessions, journal, linkTo, host } = deps;
  return {
    get: { '/session': (_context, operator) => sessionView(deps, operator) },
    post: {
      '/session/end': async (context, { sessionId, name }) => {
        await readBody(context.req.raw, z.strictObject({}));
        if (sessionId !== undefined) {
          sessions.signOut(sessionId);
          const { store } = await journal();
          await store.audit({ kind: 'console_signed_out', actor: name ?? 'console' });
        }
        const cookie = { maxAgeMs: 0, isSecure: isSecure(context.req.raw) };
        return Response.json({ signed_out: true } satisfies SignOutResponse, {
          headers: {
            'set-cookie': sessionCookie(nameOf(context.req.raw), '', cookie),
            'cache-control': 'no-store',
          },
        });
      },
      '/session/links': async (context, { by }): Promise<CreateLinkResponse> => {
        if (by !== 'token') {
          const message = 'Links are created with the token only.';
          throw new ApiError(403, 'refused', message, 'Use: toolkeel console.');
        }
        const { name } = await readBody(context.req.raw, createLink);
        const url = host.reachability.url ?? '';
        const { link, expiresAt } = linkTo(url, name ?? defaultName(), name !== undefined);
        return { link, expires_at: iso(expiresAt) };
      },
    },
  };
}

async function sessionView(
  { journal, host }: RouteDeps,
  { by, name = 'console', session }: Operator,
): Promise<SessionResponse> {
  const { store, processId } = await journal();
  return {
    name,
    by,
    ...(session && { expires_at: iso(session.expiresAt) }),
    version: host.version,
    process_id: processId ?? '',
    cautions: [
      ...(store.caution === undefined ? [] : [store.caution]),
      ...(store.kind === 'memory' ? [IN_MEMORY] : []),
    ],
  };
}

const IN_MEMORY =
  'The journal is in the memory of this process: it ends with it, and other processes are not shown.';

function nameOf({ headers }: Request): string {
  return cookieName(headers.get('host') ?? '');
}

/** A reverse proxy that terminates TLS says so; a wrong header only makes the cookie stricter. */
function isSecure({ headers, url }: Request): boolean {
  return headers.get('x-forwarded-proto') === 'https' || url.startsWith('https:');
}
