// Loaded into a server before its own code: its requests go to the double at TEST_API instead of the web.
const target = process.env['TEST_API'];
const original = globalThis.fetch;

globalThis.fetch = async (input, init = {}) => {
  const { href, host, pathname, search } = new URL(input);
  const headers = new Headers(init.headers);
  headers.set('x-test-host', host);
  headers.set('x-test-pid', String(process.pid));
  const response = await original(`${target}${pathname}${search}`, { ...init, headers });
  advance(Number(response.headers.get('x-test-clock-ms') ?? 0));
  return Object.defineProperty(response, 'url', { value: href });
};

// A clock that stands still, unless an answer of the double says how much time has passed.
let now = Date.now();
if (process.env['TEST_CLOCK'] === 'stopped') Date.now = () => now;

/** @param {number} ms */
function advance(ms) {
  now += ms;
}
