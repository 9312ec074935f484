import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../../scripts/lib/paths.mjs';
import { startBrowser, type Browser, type Page } from './support/browser.js';
import { startFakeServer, type FakeServer } from './support/fake-server.js';

/** `npm run console:screenshots`: every page, light and dark, on a desk and on a phone. */
const folder = process.env['TOOLKEEL_SCREENSHOTS'] ?? inRoot('docs', 'images', 'console');
const format = process.env['TOOLKEEL_SCREENSHOTS'] === undefined ? 'webp' : 'png';

const PAGES: readonly (readonly [string, string])[] = [
  ['now', '/'],
  ['settle', '/'],
  ['approvals', '/approvals'],
  ['approval', '/approvals/op_01JC7P3A11'],
  ['edit', '/approvals/op_01JC7P3A11?edit=1'],
  ['consequence', '/approvals'],
  ['operations', '/operations'],
  ['operation', '/operations/op_01JC7Q8Z2M'],
  ['calls', '/calls'],
  ['call', '/calls/200'],
  ['policy', '/policy'],
  ['tools', '/tools'],
  ['tool', '/tools/search_items'],
  ['audit', '/audit'],
  ['settings', '/settings'],
];

const SCREENS = {
  desktop: { width: 1280, height: 880 },
  phone: { width: 390, height: 844, scale: 1.5 },
} as const;

let server: FakeServer;
let browser: Browser;
beforeAll(async () => {
  server = await startFakeServer();
  browser = await startBrowser();
  mkdirSync(folder, { recursive: true });
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const shoot = async (page: Page, name: string): Promise<void> => {
  const session = await page.context().newCDPSession(page);
  const quality = format === 'webp' ? { quality: 72 } : {};
  const { data } = await session.send('Page.captureScreenshot', { format, ...quality });
  writeFileSync(join(folder, `${name}.${format}`), Buffer.from(data, 'base64'));
};

const cases = (['desktop', 'phone'] as const).flatMap((screen) =>
  (['light', 'dark'] as const).map((theme) => [screen, theme] as const),
);

test.for(cases)('every page, %s, %s', async ([screen, theme]) => {
  const page = await browser.page({ ...SCREENS[screen], dark: theme === 'dark' });
  for (const [name, path] of PAGES) {
    await page.goto(server.url + path);
    await page.waitForSelector('h1');
    await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0);
    if (path === '/') await page.waitForSelector('.chart canvas');
    if (name === 'settle') {
      await page.getByRole('button', { name: 'Settle' }).first().click();
      await page.getByRole('region', { name: 'What happens' }).waitFor();
    }
    if (name === 'consequence') {
      await page.getByRole('button', { name: 'Approve' }).first().click();
      await page.getByRole('region', { name: 'What happens' }).waitFor();
    }
    await shoot(page, `${name}-${screen}-${theme}`);
  }
  await page.context().close();
  expect(true).toBe(true);
});

test('a lost connection', async () => {
  const page = await browser.page(SCREENS.desktop);
  await page.goto(server.url);
  await page.waitForSelector('.chart canvas');
  await server.stop();
  await page.getByText('Connection to the server lost').waitFor();
  await shoot(page, 'lost-desktop-light');
  await server.start();
  expect(await page.title()).toContain('Now');
});
