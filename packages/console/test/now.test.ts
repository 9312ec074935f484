import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { NowResponse } from '../src/api/types.js';
import { violations } from './support/axe.js';
import { startBrowser, type Browser, type Page, type PageOptions } from './support/browser.js';
import { startFakeServer, type FakeServer } from './support/fake-server.js';
import { incident } from './support/incident.js';

let browser: Browser;
let server: FakeServer;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(async () => {
  await browser.closePages();
  await server.close();
});

const open = async (options?: PageOptions): Promise<Page> => {
  const page = await browser.page(options);
  await page.goto(server.url);
  await page.locator('.worklist li').nth(5).waitFor();
  await page.locator('.newest li').first().waitFor();
  return page;
};
const wordsOf = async (page: Page, selector: string): Promise<number> => {
  const texts = await page.locator(selector).allInnerTexts();
  return texts
    .join(' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
};
const press = async (page: Page, row: string, name: string) => {
  const item = page.locator('.worklist li').filter({ hasText: row });
  await item.getByRole('button', { name }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('region', { name: 'What happens' }).waitFor();
  return dialog;
};

describe('the first page', () => {
  test('says what is broken, since when, which calls it affects, and when it is tested', async () => {
    const page = await open();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'Broken: x is failing',
    );
    const problems = page.getByRole('list', { name: 'What is broken' }).getByRole('listitem');
    expect(await problems.count()).toBe(1);
    const text = await problems.innerText();
    expect(text).toContain('x (api.x.com) fails with a server error (503).');
    expect(text).toMatch(/Since \d\d:\d\d:\d\d \(5 min\)/);
    expect(text).toContain('64 calls failed: x_post_tweet, x_search_tweets');
    expect(text).toMatch(/Next call after \d\d:\d\d:\d\d is a test/);
    expect(text).not.toContain('circuit');
    await problems.locator('summary').click();
    await problems.getByText('The circuit is open in 2 processes.').waitFor();
  });

  test('says that nothing is broken while decisions wait', async () => {
    const page = await open();
    const { now } = incident(Date.now());
    const data: NowResponse = { ...now, status: 'attention', statements: now.statements.slice(1) };
    server.send({ type: 'now', data });
    await page.getByRole('heading', { name: 'Nothing is broken', exact: true }).waitFor();
    await page.getByText('5 decisions wait for you.').waitFor();
    expect(await page.getByRole('list', { name: 'What is broken' }).count()).toBe(0);
  });

  test('lists what waits in the order in which to do it, with what decides and the deadline', async () => {
    const page = await open();
    await page.getByText('Most urgent first').waitFor();
    const rows = await page.locator('.worklist li').allInnerTexts();
    expect(rows.map((row) => row.replaceAll(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^May have happened Sent 5 min ago · x_post_tweet Maintenance is over/),
      expect.stringMatching(/^May have happened Sent 3 min ago · x_post_tweet Version 4\.2 is out/),
      expect.stringMatching(/^Needs approval Expires in [78] min · x_post_tweet We are looking/),
      expect.stringMatching(/^Needs approval Expires in 48 min · x_post_tweet Exports work/),
      expect.stringMatching(/^Needs approval Expires in 23 h · github_create_issue Exports fail/),
      'Not done: expired If still wanted, ask the agent again · x_post_tweet Good morning from the exports team!',
    ]);
  });

  test('says what the agent did in the last hour, by outcome', async () => {
    const page = await open();
    const tally = await page.getByRole('list', { name: 'Mutations by outcome' }).innerText();
    expect(tally.replaceAll(/\s+/g, ' ')).toBe(
      '7 done 2 may have happened 3 need approval 1 not done 1,815 reads, 69 failed',
    );
    const newest = page.getByRole('list', { name: 'Newest mutations' }).getByRole('listitem');
    // What waits for a decision is listed there.
    expect((await newest.allInnerTexts()).map((row) => row.split('\n')[0]?.trim())).toEqual([
      'Not done',
      'Done',
      'Done',
      'Done',
    ]);
    expect(await newest.nth(1).innerText()).toMatch(/^Done\s+Issue 1$/);
    // One line each.
    const boxes = await Promise.all((await newest.all()).map((item) => item.boundingBox()));
    expect(boxes.filter((box) => (box?.height ?? Infinity) >= 48)).toEqual([]);
    await page.getByRole('link', { name: '1 not done' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(await page.getByRole('row').last().innerText()).toContain('Rejected by the upstream');
  });

  test('and its dialogs are read in less than two minutes, word by word', async () => {
    const page = await open();
    await page.evaluate(
      "document.styleSheets[0].insertRule('.visually-hidden { display: none !important; }')",
    );
    const parts = ['.verdict', '.statements', '.now-columns'];
    const counts = await Promise.all(parts.map((part) => wordsOf(page, part)));
    const first = counts.reduce((sum, count) => sum + count);
    await press(page, 'Exports work again', 'Approve');
    const approve = await wordsOf(page, 'dialog');
    await page.keyboard.press('Escape');
    await press(page, 'Exports work again', 'Reject');
    const reject = await wordsOf(page, 'dialog');
    await page.keyboard.press('Escape');
    await press(page, 'Version 4.2', 'Settle');
    const settle = await wordsOf(page, 'dialog');
    // 250 words a minute, and 5 clicks of 3 s: three dialogs are opened, two are closed.
    expect(((first + approve + reject + settle) / 250) * 60 + 5 * 3).toBeLessThan(120);
  });
});

describe('the dialog of an action', () => {
  test('shows the arguments, their hash, what could stop it, and the audit entry', async () => {
    const page = await open();
    const dialog = await press(page, 'Exports work again', 'Approve');
    // The post above is the only argument, so the tree that repeats it is folded.
    await dialog.locator('.exact .tree summary').first().click();
    const seen = (text: string | RegExp) => dialog.getByText(text).first().isVisible();
    expect(await seen('"Exports work again. We will publish a report on Friday."')).toBe(true);
    expect(await seen(/^[0-9a-f]{64}$/)).toBe(true);
    expect(await seen('approval_decided')).toBe(true);
    for (const name of ['policy', 'circuit', 'rate limit', 'retry budget']) {
      const check = dialog.locator('.checked > span').filter({ hasText: new RegExp(`: ${name}$`) });
      expect(await check.count()).toBe(1);
    }
    expect(await violations(page)).toEqual([]);
  });

  test.for([
    ['Approve', 'Exports work again', 'Approve for later'],
    ['Settle', 'Version 4.2', 'Check now'],
  ] as const)('of %s needs no scrolling on a phone', async ([name, row, confirm]) => {
    const height = 844;
    const page = await open({ width: 390, height });
    const dialog = await press(page, row, name);
    const parts = [
      dialog.locator('.post-text'),
      dialog.getByRole('region', { name: 'What happens' }),
      dialog.getByRole('button', { name: confirm }),
    ];
    const boxes = await Promise.all(parts.map((part) => part.boundingBox()));
    const edges = boxes.map((box) => [box?.y ?? -1, (box?.y ?? 0) + (box?.height ?? height)]);
    expect(edges.flat().filter((edge) => edge < 0 || edge > height)).toEqual([]);
    expect(edges.flat()).toEqual(edges.flat().toSorted((a, b) => a - b));
    expect(await violations(page)).toEqual([]);
  });

  test('shows the consequence of the state now, and keeps what was typed', async () => {
    const page = await open();
    const dialog = await press(page, 'Exports work again', 'Reject');
    const reason = dialog.getByRole('textbox', { name: 'Reason' });
    const typed = page.waitForRequest((sent) => sent.postData()?.includes('Not today') ?? false);
    await reason.fill('Not today');
    await typed;
    const refreshed = page.waitForRequest((sent) => sent.url().endsWith('/api/preview'));
    server.send({ type: 'processes', data: { processes: incident(Date.now()).processes } });
    expect((await refreshed).postDataJSON()).toMatchObject({ reason: 'Not today' });
    expect(await reason.inputValue()).toBe('Not today');
  });

  test('says that its button changed while it was open, and disables it until that can be read', async () => {
    const page = await open();
    const dialog = await press(page, 'Exports work again', 'Approve');
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Approve for later' }).isEnabled())
      .toBe(true);
    expect(await dialog.getByText('Changed just now').count()).toBe(0);
    await page.evaluate(`
      const foot = document.querySelector('.dialog-foot');
      globalThis.seen = [];
      new MutationObserver(() => {
        const { textContent, disabled } = [...foot.querySelectorAll('button')].at(-1);
        seen.push([textContent, disabled, foot.innerText.includes('Changed just now')]);
      }).observe(foot, { subtree: true, childList: true, characterData: true, attributes: true });
    `);
    server.resume();
    await dialog
      .getByText('the button was “Approve for later” and is now “Approve and execute”.')
      .waitFor();
    const execute = dialog.getByRole('button', { name: 'Approve and execute' });
    await expect.poll(() => execute.isEnabled()).toBe(true);
    const seen = await page.evaluate<readonly (readonly [string, boolean, boolean])[]>('seen');
    expect(seen.find(([text]) => text === 'Approve and execute')).toEqual([
      'Approve and execute',
      true,
      true,
    ]);
    expect(await violations(page)).toEqual([]);
    await execute.click();
    await dialog.getByText('Approved and posted.').waitFor();
  });

  test('does not record that it happened before the form of the result is shown', async () => {
    const release = server.holdTools();
    const page = await open();
    const dialog = await press(page, 'Version 4.2', 'Settle');
    await dialog.getByRole('radio', { name: 'It happened' }).check();
    await dialog.getByText('Loading the shape of the result …').waitFor();
    const record = dialog.getByRole('button', { name: 'Record that it happened' });
    expect(await record.isEnabled()).toBe(false);
    release();
    await dialog.getByRole('textbox', { name: 'id' }).waitFor();
    await expect.poll(() => record.isEnabled()).toBe(true);
  });

  test('shows the consequence of each way to settle, and forgets what was filled in for another', async () => {
    const page = await open();
    const dialog = await press(page, 'Version 4.2', 'Settle');
    // All of them before one is chosen.
    await dialog.getByText('Reads x (api.x.com), and changes nothing there.').waitFor();
    await dialog.getByText('Recorded as done, and never sent again.').waitFor();
    await dialog.getByText('if it did happen, it happens twice').waitFor();
    await dialog.getByRole('radio', { name: 'It happened' }).check();
    await dialog.getByText('Recorded as done, and never sent again.').waitFor();
    const record = dialog.getByRole('button', { name: 'Record that it happened' });
    await expect.poll(() => record.isEnabled()).toBe(true);
    await dialog.getByRole('textbox', { name: 'id' }).fill('1');
    await dialog.getByRole('textbox', { name: 'text' }).fill('Something else');
    await dialog.getByRole('radio', { name: 'It did not happen' }).check();
    await dialog.getByText('if it did happen, it happens twice').waitFor();
    const other = dialog.getByRole('button', { name: 'Record that it did not happen' });
    expect(await other.isEnabled()).toBe(false);
    await dialog.getByRole('radio', { name: 'It happened' }).check();
    const request = page.waitForRequest((sent) => sent.url().endsWith('/api/actions'));
    await expect.poll(() => record.isEnabled()).toBe(true);
    await record.click();
    expect((await request).postDataJSON()).not.toHaveProperty('data');
    await dialog.getByText('State now').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.worklist li').count()).toBe(5);
  });
});
