import { describe, expect, it } from 'vitest';
import { codeOf, operatorOf, rawGet, readEvents, signIn, startConsole } from './rig.js';

const AGENT = 'the-token-of-the-agent';
const env = { TOOLKEEL_HTTP_TOKEN: AGENT };

describe('signing in', () => {
  it('exchanges a link for a cookie that scripts cannot read, once', async () => {
    const { url, link, script } = await startConsole({ env });
    const given = link();
    expect(given).toMatch(new RegExp(`^${url}/#login=[\\w-]{43}$`));
    const ana = await signIn(url, given, 'ana');
    expect(ana.body).toMatchObject({ name: 'ana', by: 'link' });
    const cookie = ana.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    expect(cookie).toMatch(/; Path=\/api/);
    expect(cookie).toMatch(/; Max-Age=43(199|200)/);
    expect((await ana.get('/session')).body).toMatchObject({ name: 'ana' });

    const again = await signIn(url, given, 'eve');
    expect(again).toMatchObject({ status: 401, body: { error: { code: 'invalid_code' } } });
    expect(again.headers.get('set-cookie')).toBeNull();
    const { rows } = (await script.get('/audit/rows')).body;
    expect(rows).toMatchObject([{ kind: 'console_signed_in', actor: 'ana' }]);
  });

  it('of two that use a link at the same time, one is let in', async () => {
    const { url, link } = await startConsole();
    const given = link();
    const both = await Promise.all([signIn(url, given, 'ana'), signIn(url, given, 'ben')]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 401]));
  });

  it('ends with the session: no request and no event after that', async () => {
    const { url, signIn: enter } = await startConsole();
    const ana = await enter('ana');
    const headers = { cookie: ana.cookie };
    const stream = readEvents(url, '/events', headers, ({ event }) => event === 'signed_out');
    await expect.poll(async () => (await ana.get('/now')).status).toBe(200);
    const end = await ana.post('/session/end', {});
    expect(end.headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await ana.get('/session')).body).toMatchObject({ error: { code: 'signed_out' } });
    expect((await stream).at(-1)).toMatchObject({ event: 'signed_out' });
  });

  it('refuses further wrong codes after many, and never locks out an operator with a link', async () => {
    const { url, link } = await startConsole();
    for (let n = 0; n < 30; n++) await signIn(url, `${url}/#login=wrong${n}`);
    expect(await signIn(url, `${url}/#login=another`)).toMatchObject({
      status: 429,
      body: { error: { code: 'too_many' } },
    });
    expect(await signIn(url, link())).toMatchObject({ status: 200 });
  });

  it('of a link that names a person cannot be signed in as another', async () => {
    const { url, script } = await startConsole();
    const { link } = (await script.post('/session/links', { name: 'ana' })).body;
    expect((await signIn(url, String(link), 'ben')).body).toMatchObject({ name: 'ana' });
  });

  it('accepts no body that is too large or not JSON, also without a credential', async () => {
    const { url } = await startConsole();
    const send = async (body: string, type: string) =>
      (
        await fetch(`${url}/api/session`, {
          method: 'POST',
          headers: { 'content-type': type },
          body,
        })
      ).status;
    expect(await send(JSON.stringify({ code: 'x'.repeat(300_000) }), 'application/json')).toBe(413);
    expect(await send('{"code":"x"}', 'text/plain')).toBe(415);
    expect(await send('code=x', 'application/x-www-form-urlencoded')).toBe(415);
  });
});

describe('credentials', () => {
  it('of agents open nothing here, and those of operators nothing there', async () => {
    const { url, token, signIn: enter } = await startConsole({ env });
    const agent = operatorOf(url, { authorization: `Bearer ${AGENT}` });
    for (const path of ['/session', '/now', '/snapshot', '/events', '/approvals', '/unknown']) {
      expect(await agent.get(path)).toMatchObject({
        status: 401,
        body: { error: { code: 'signed_out' } },
      });
    }
    expect((await agent.post('/session/links', {})).status).toBe(401);
    const { cookie } = await enter();
    const mcp = (headers: Record<string, string>) =>
      fetch(`${url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      });
    for (const headers of [{ cookie }, { authorization: `Bearer ${token}` }]) {
      expect((await mcp(headers)).status).toBe(401);
      expect((await fetch(`${url}/metrics`, { headers })).status).toBe(401);
    }
  });

  it('no request without one yields a token, a link or data', async () => {
    const { url, token } = await startConsole();
    const anonymous = operatorOf(url, {});
    const secrets = new RegExp(token);
    for (const path of [
      '',
      '/',
      '/session',
      '/session/links',
      '/snapshot',
      '/calls',
      '/tools',
      '/audit/export',
    ]) {
      const { status, headers, body } = await anonymous.get(path);
      expect([path, status]).toEqual([path, 401]);
      expect(headers.get('set-cookie')).toBeNull();
      expect(JSON.stringify(body)).not.toMatch(secrets);
    }
    for (const path of [
      '/session/links',
      '/session/end',
      '/actions',
      '/preview',
      '/audit/verify',
    ]) {
      expect((await anonymous.post(path, {})).status).toBe(401);
    }
    const page = await (await fetch(url)).text();
    expect(page).not.toMatch(secrets);
    expect(page).not.toContain('login=');
  });

  it('a wrong or foreign cookie is no session', async () => {
    const [one, other] = [await startConsole(), await startConsole()];
    const { cookie } = await other.signIn();
    const stolen = cookie.replace(/_\d+=/, `_${new URL(one.url).port}=`);
    for (const given of [cookie, stolen, stolen.slice(0, -1), 'toolkeel_console_0=x', '=', ';;;']) {
      const { status } = await operatorOf(one.url, { cookie: given }).get('/now');
      expect(status).toBe(401);
    }
  });

  it('links are created with the token only, for the name that it gives', async () => {
    const { url, script, signIn: enter } = await startConsole();
    const ana = await enter('ana');
    expect((await ana.post('/session/links', {})).status).toBe(403);
    const created = (await script.post('/session/links', { name: 'ben' })).body;
    const link = String(created['link']);
    expect((await signIn(url, link)).body).toMatchObject({ name: 'ben' });
    expect(codeOf(link)).toHaveLength(43);
    expect((await script.post('/session/links', { name: '<b>eve</b>' })).status).toBe(400);
  });
});

describe('requests of other pages', () => {
  it('are refused, also from another port of the same host', async () => {
    const { url, signIn: enter } = await startConsole();
    const { cookie, post, get } = await enter();
    const { port } = new URL(url);
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1:1' },
      { origin: `http://localhost:${port}` },
      { origin: 'null' },
      { origin: url, 'sec-fetch-site': 'same-site' },
      { origin: url, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) {
      const page = operatorOf(url, { cookie, ...headers });
      expect([headers, (await page.post('/session/end', {})).status]).toEqual([headers, 403]);
      expect((await page.get('/now')).status).toBe(403);
    }
    expect((await get('/now')).status).toBe(200);
    // A form can send neither JSON nor a header of its own.
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const { status } = await post('/session/end', {}, { 'content-type': type });
      expect(status).toBe(415);
    }
    expect((await get('/session')).status).toBe(200);
  });

  it('a foreign Host is refused, and one behind a proxy is allowed by the configuration', async () => {
    const { url } = await startConsole({
      config: {
        http: { port: 0, allowedHosts: ['keel.example'], allowedOrigins: ['keel.example'] },
      },
    });
    expect(await rawGet(url, '/', { host: 'evil.example' })).toBe(403);
    expect(await rawGet(url, '/api/now', { host: 'evil.example' })).toBe(403);
    expect(await rawGet(url, '/', { host: 'keel.example' })).toBe(200);
    const page = { host: 'keel.example', origin: 'https://keel.example' };
    expect(await rawGet(url, '/api/now', page)).toBe(401);
    expect(
      await rawGet(url, '/api/now', { host: 'keel.example', origin: 'https://evil.example' }),
    ).toBe(403);
  });

  it('the cookie is Secure behind a proxy with TLS', async () => {
    const { url, link } = await startConsole();
    const response = await fetch(`${url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
      body: JSON.stringify({ code: codeOf(link()) }),
    });
    expect(response.headers.get('set-cookie')).toMatch(/; Secure$/);
  });
});

describe('the page', () => {
  it('is served with a strict policy and the right caching, from a fixed list of files', async () => {
    const { url } = await startConsole({ env });
    const html = { accept: 'text/html' };
    for (const path of ['/', '/index.html', '/calls/17', '/approvals']) {
      const response = await fetch(url + path, { headers: html });
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      const csp = response.headers.get('content-security-policy') ?? '';
      expect(csp).toContain("default-src 'none'");
      expect(csp).toContain("frame-ancestors 'none'");
      expect(csp).not.toMatch(/unsafe|\*|https?:/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    }
    const script = await fetch(`${url}/assets/app-1a2b.js`);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(script.headers.get('content-security-policy')).toContain("script-src 'self'");
    const etag = script.headers.get('etag') ?? '';
    const again = await fetch(`${url}/assets/app-1a2b.js`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);

    for (const path of [
      '/assets/none.js',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/assets/../../secret.txt',
    ]) {
      expect([path, await rawGet(url, path, {})]).toEqual([path, 401]);
    }
    expect((await fetch(url, { method: 'POST' })).status).toBe(401);
    expect((await fetch(`${url}/mcp`, { headers: html })).status).toBe(401);
  });

  it('without a built page, only the API is served', async () => {
    const { url, script, link } = await startConsole({ extras: { files: '/nonexistent' } });
    expect(link()).toBe('');
    expect((await fetch(url)).status).toBe(404);
    expect((await script.get('/now')).status).toBe(200);
  });
});
