import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBrowser, type Browser } from './support/browser.js';
import { startFakeServer, type FakeServer } from './support/fake-server.js';
import { calls } from './support/incident-calls.js';

let browser: Browser;
let server: FakeServer;
beforeAll(async () => {
  [browser, server] = await Promise.all([startBrowser(), startFakeServer()]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const BATCH = 500;

test('a page that stays open does not grow: 20,000 and 100,000 calls need the same heap', async () => {
  const page = await browser.page();
  await page.goto(server.url);
  await page.locator('main h1').waitFor();
  const session = await page.context().newCDPSession(page);
  let sent = 0;
  const sendUpTo = async (count: number): Promise<void> => {
    for (; sent < count; sent += BATCH) {
      server.send({
        type: 'calls',
        data: { calls: calls(Date.now(), BATCH, 1_000 + sent).toReversed() },
      });
      // The next batch waits until the page has applied this one, as a slow page would make a server wait.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve))');
    }
  };
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    return usedSize;
  };
  await sendUpTo(20_000);
  const early = await heap();
  await sendUpTo(100_000);
  const late = await heap();
  expect(late / early).toBeLessThan(1.1);
  await page.goto(`${server.url}/calls`);
  await page.getByRole('table', { name: 'Ended calls' }).getByRole('row').nth(20).waitFor();
});

test('a list of 100,000 calls keeps at most 100 rows in the document and scrolls to its end', async () => {
  server.addCalls(100_000);
  const page = await browser.page();
  await page.goto(`${server.url}/calls`);
  const rows = page.getByRole('table', { name: 'Ended calls' }).getByRole('row');
  await rows.nth(20).waitFor();
  await expect
    .poll(
      async () => {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        expect(await rows.count()).toBeLessThanOrEqual(101);
        return page.locator('a[href="/calls/1"]').count();
      },
      { timeout: 500_000, interval: 5 },
    )
    .toBe(1);
});
