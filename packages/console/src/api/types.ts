/**
 * The HTTP API of the console: every request and response under `/api`. Types only.
 *
 * Conventions: JSON in snake_case. Times are ISO 8601 strings in UTC (`…_at`, `at`, `since`, `until`),
 * durations are numbers with a unit in their name (`…_ms`). An absent field is unknown or does not apply.
 * All strings come from agents and upstreams: render them as text. Responses are `no-store`.
 *
 * Query parameters that take a time accept ISO 8601 or an age: `30m`, `2h`, `7d`.
 *
 * ## Files
 * The package `@toolkeel/console` exports `files(): string`: the absolute path of the directory of its
 * built files, with `index.html` at its root. The host serves it at `/` without authentication (the files
 * contain no data) and answers every other path outside `/api`, `/mcp`, `/metrics`, `/healthz` that accepts
 * HTML with `index.html` (so the router may use paths: `/calls/ID`). Files below `assets/` must have a hash
 * in their name: they are cached as immutable; everything else is revalidated with an ETag. Headers of all
 * of them: `content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'
 * data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none';
 * frame-ancestors 'none'`, `x-content-type-options: nosniff`, `referrer-policy: no-referrer`,
 * `cross-origin-opener-policy: same-origin`, `cross-origin-resource-policy: same-origin`.
 *
 * ## Authentication
 * 1. `toolkeel up` and `toolkeel console` print a link `http://HOST:PORT/#login=CODE`. The code works once,
 *    for 10 minutes. The page reads it from `location.hash`, removes it (`history.replaceState`) and sends
 *    `POST /api/session`. The response sets an HttpOnly, SameSite=Strict cookie; scripts never see it.
 * 2. Every other request needs the cookie, or `Authorization: Bearer` with the token from `console.token`
 *    (for scripts). Otherwise: 401 `signed_out`. `GET /api/session` says who is signed in.
 * 3. Requests that change something are `POST` with `content-type: application/json` and come from a page
 *    of this server (`Origin`, `Sec-Fetch-Site`); `fetch` of the same origin does that by itself.
 */
export type * from './errors.js';
export type * from './session.js';
export type * from './live.js';
export type * from './calls.js';
export type * from './operations.js';
export type * from './actions.js';
export type * from './tools.js';
export type * from './audit.js';
