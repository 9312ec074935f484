import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser, type Browser, type Page } from './support/browser.js';
import { startInstallation, type Installation } from './support/served.js';

let browser: Browser;
let site: Installation;
beforeAll(async () => {
  [browser, site] = await Promise.all([startBrowser(), startInstallation()]);
});
afterEach(() => browser.closePages());
afterAll(async () => {
  await browser.close();
  await site.close();
});

/** Signs in as a person and opens a page. */
const enter = async (name: string, path = '/'): Promise<Page> => {
  const page = await browser.page();
  const link = await site.link(name);
  await page.goto(link);
  await page.locator('main h1').waitFor();
  expect(page.url()).not.toContain('login');
  if (path !== '/') await page.goto(site.url + path);
  return page;
};
const HOUR_MS = 3_600_000;

const posts = (): string[] =>
  site.x.commits().flatMap((commit) => (commit.kind === 'post.created' ? [commit.text] : []));

/** An agent on stdio asks for a post, which needs approval. */
const askFor = async (text: string): Promise<string> => {
  const { error } = await site.call('x_post_tweet', { text });
  expect(error?.code).toBe('approval_required');
  return error?.operation_id ?? '';
};

describe('the console of running servers', () => {
  test('needs a link, which works once', async () => {
    const link = await site.link('ana');
    const first = await browser.page();
    await first.goto(link);
    await first.getByRole('heading', { level: 1 }).waitFor();
    const second = await browser.page();
    await second.goto(link);
    await second.getByText('toolkeel console', { exact: true }).waitFor();
    await second.goto(site.url);
    await second.getByText('You are signed out').waitFor();
    expect(await second.context().cookies()).toEqual([]);
    const [cookie] = await first.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
  });

  test('shows an approval of a server on stdio, which is edited, approved and executed once', async () => {
    const text = 'Edit me before approval';
    const id = await askFor(text);
    const page = await enter('ana', `/approvals/${id}?edit=1`);
    await page.getByLabel('text').fill('Edited before approval, and sent once');
    await page.getByRole('button', { name: 'Edit and approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What the edit changes').waitFor();
    await dialog.getByText('of 280 characters').waitFor();
    expect(posts()).toEqual([]);
    await dialog.getByRole('button', { name: 'Approve the edited call' }).click();
    await dialog.getByText('Done', { exact: true }).waitFor();
    expect(posts()).toEqual(['Edited before approval, and sent once']);
    expect(await site.call('x_post_tweet', { text })).toMatchObject({
      success: true,
      data: { text: 'Edited before approval, and sent once' },
    });
    expect(posts()).toHaveLength(1);
  });

  test('tells one of two people who press at once that the other was first', async () => {
    const id = await askFor('Two people see this approval');
    const before = posts().length;
    const people = await Promise.all([
      enter('ana', `/approvals/${id}`),
      enter('ben', `/approvals/${id}`),
    ]);
    const buttons = await Promise.all(
      people.map(async (page) => {
        await page.getByRole('button', { name: 'Approve' }).click();
        const button = page
          .getByRole('dialog')
          .getByRole('button', { name: 'Approve and execute' });
        await expect.poll(() => button.isEnabled()).toBe(true);
        return button;
      }),
    );
    await Promise.all(buttons.map((button) => button.click()));
    const results = await Promise.all(
      people.map(async (page) => {
        const title = page.getByRole('dialog').getByRole('heading', { level: 2 });
        await expect.poll(() => title.textContent()).toMatch(/Result|nothing was executed/i);
        return title.textContent();
      }),
    );
    expect(results.filter((title) => title === 'Result')).toHaveLength(1);
    expect(results.filter((title) => /nothing was executed/i.test(title ?? ''))).toHaveLength(1);
    await expect.poll(posts).toHaveLength(before + 1);
  });

  test('rejects with a reason that the agent gets', async () => {
    const text = 'No approval for this';
    const id = await askFor(text);
    const page = await enter('ana', `/approvals/${id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('Wait for the report.');
    const button = dialog.getByRole('button', { name: 'Reject' });
    await expect.poll(() => button.isEnabled()).toBe(true);
    await button.click();
    await dialog.getByRole('heading', { name: 'Result' }).waitFor();
    const { error } = await site.call('x_post_tweet', { text });
    expect(error).toMatchObject({
      code: 'approval_denied',
      details: { reason: 'Wait for the report.' },
    });
  });

  test('keeps a hostile post as text', async () => {
    const hostile = 'approval <img src=x onerror="document.title=1"><b>bold</b>';
    const id = await askFor(hostile);
    const page = await enter('ana', `/approvals/${id}`);
    await page.locator('.post-text').getByText(hostile).waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(await page.title()).toContain('Approvals');
  });

  test('tries a read tool, explains a call, replays a policy, and verifies the audit', async () => {
    const page = await enter('ana', '/tools/search_items');
    await page.getByLabel('limit', { exact: true }).fill('1');
    await page.getByRole('button', { name: 'Call it' }).click();
    await page.getByText('retry_count').waitFor();

    await page.goto(`${site.url}/policy`);
    await page.getByLabel('Tool', { exact: true }).selectOption('x_post_tweet');
    await page.getByLabel('text (required)').fill('Is approval needed?');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('.note').getByText('Asks for approval').waitFor();
    const config = page.getByLabel('Rules, limits and mode');
    const rules = JSON.parse(await config.inputValue()) as { rules: object[] };
    const deny = { name: 'none', when: { tool: 'x_post_tweet' }, action: 'deny' };
    await config.fill(JSON.stringify({ ...rules, rules: [deny] }));
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText(/denied \d+ of \d+ operations/).waitFor();

    await page.goto(`${site.url}/audit`);
    await page.getByRole('button', { name: 'Verify the whole chain now' }).click();
    await page.getByText('Verified from the first entry to the head').waitFor();
    const entries = page.getByRole('region', { name: 'Entries' });
    expect(await entries.textContent()).toContain('approval decided: approved');

    await page.goto(`${site.url}/calls?tool=search_items`);
    await page.locator('.row-link').first().click();
    await page.locator('.tl-label').getByText('Attempt 1').first().waitFor();
    expect(posts()).not.toContain('Is approval needed?');
  });

  test('settles an operation whose outcome is unknown, and repeated calls receive it', async () => {
    const text = 'Was this sent?';
    expect(await site.call('x_post_tweet', { text: 'The account is known' })).toMatchObject({
      success: true,
    });
    // The post exists, its response is lost, and reading back fails as well.
    site.x.setFaults([
      { kind: 'close-after-read', routes: ['create-post'], times: 1 },
      { kind: 'http-503', methods: ['GET'] },
    ]);
    const { error } = await site.call('x_post_tweet', { text });
    expect(error?.code).toBe('outcome_unknown');
    const page = await enter('ana', '/operations');
    await page.getByRole('row').getByRole('link', { name: 'Settle' }).click();
    await page.getByText('May have been sent').waitFor();
    await page.getByText(/^1 attempt, \d+ read-backs?$/).waitFor();
    await page.getByRole('button', { name: 'It happened' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Result for repeated calls (optional)').waitFor();
    await dialog.getByRole('textbox', { name: 'id' }).fill('1841');
    await dialog.getByText('Repeated calls get this result.').waitFor();
    const button = dialog.getByRole('button', { name: 'Record that it happened' });
    await expect.poll(() => button.isEnabled()).toBe(true);
    await button.click();
    await dialog.getByText('State now').waitFor();
    await expect.poll(() => dialog.textContent()).toContain('Reconciled');
    site.x.setFaults([]);
    const repeated = await site.call('x_post_tweet', { text });
    expect(repeated).toMatchObject({ success: true, data: { id: '1841' } });
    expect(posts().filter((post) => post === text)).toHaveLength(1);
  });

  test('checks the upstream, which proves one operation, and lets a person settle the other', async () => {
    const [shown, absent] = ['X shows this post late', 'X never received this post'];
    expect(await site.call('x_post_tweet', { text: 'The account is known' })).toMatchObject({
      success: true,
    });
    site.x.setLag(HOUR_MS);
    site.x.setFaults([{ kind: 'close-after-read', routes: ['create-post'], times: 1 }]);
    const first = site.call('x_post_tweet', { text: shown });
    await expect.poll(posts).toContain(shown);
    site.x.setFaults([{ kind: 'reset-before-read', routes: ['create-post'], times: 1 }]);
    const second = site.call('x_post_tweet', { text: absent });
    const [{ error: one }, { error: other }] = await Promise.all([first, second]);
    expect([one?.code, other?.code]).toEqual(['outcome_unknown', 'outcome_unknown']);

    const check = async (name: string, id = '') => {
      const page = await enter(name, `/operations/${id}`);
      await page.getByRole('button', { name: 'Check the upstream now' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('and changes nothing there.').waitFor();
      await dialog.getByRole('button', { name: 'Check now' }).click();
      const open = dialog.getByText('Still unknown:');
      await dialog.getByText('Checking …').or(open).waitFor();
      return { page, dialog, open };
    };
    const ana = await check('ana', one?.operation_id);
    site.x.setLag(0);
    const proven = ana.dialog.getByText('It happened: the upstream was read.');
    await proven.or(ana.open).waitFor();
    // The check reads for 8 s. If it ended before the post was shown, another one finds it, or the background has.
    if (await ana.open.isVisible()) {
      await ana.page.reload();
      const again = ana.page.getByRole('button', { name: 'Check the upstream now' });
      const settled = ana.page.locator('.badge').getByText('Reconciled', { exact: true });
      await again.or(settled).first().waitFor();
      if (await again.isVisible()) {
        await again.click();
        await ana.dialog.getByRole('button', { name: 'Check now' }).click();
      }
      await settled.first().waitFor();
    } else await ana.dialog.getByText('Reconciled', { exact: true }).waitFor();
    const ben = await check('ben', other?.operation_id);
    await ben.open.waitFor();
    await ben.dialog.getByText('May have happened').waitFor();
    expect(await site.call('x_post_tweet', { text: shown })).toMatchObject({
      success: true,
      data: { text: shown },
    });

    await ben.dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
    await ben.page.getByRole('button', { name: 'It did not happen' }).click();
    await ben.dialog.getByText('if it did happen, it happens twice').waitFor();
    const record = ben.dialog.getByRole('button', { name: 'Record that it did not happen' });
    expect(await record.isEnabled()).toBe(false);
    await ben.dialog.getByLabel('How do you know?').fill('It is not on the profile.');
    await expect.poll(() => record.isEnabled()).toBe(true);
    await record.click();
    await ben.dialog.getByText('Settled as not executed.').waitFor();
    await ben.dialog.getByText('Reconciled: not executed').waitFor();
    expect(posts()).not.toContain(absent);
    expect(await site.call('x_post_tweet', { text: absent })).toMatchObject({ success: true });
    expect(posts().filter((post) => post === shown || post === absent)).toEqual([shown, absent]);
    await ben.page.goto(`${site.url}/audit`);
    const row = ben.page.getByRole('row').filter({ hasText: 'reconciled: not executed' });
    await row.getByText('ben', { exact: true }).waitFor();
    expect(await row.textContent()).toContain('It is not on the profile.');
  });

  test('shows the attempts of a call of the server on stdio while it waits', async () => {
    const page = await enter('ana', '/calls');
    site.stac.setFaults([{ kind: 'http-429', retryAfter: { seconds: 5 }, times: 1 }]);
    const running = site.call('search_items', { limit: 3 });
    const flying = page.locator('.in-flight li');
    await flying.getByText('Waits for the rate limit').waitFor();
    expect(await flying.textContent()).toMatch(/1 attempt · .*stdio \d+/);
    await flying.getByRole('link').click();
    await page.locator('.tl-label').getByText('Rate limit').waitFor();
    expect(await page.locator('.tl-label').allTextContents()).toEqual([
      'Attempt 1',
      'Rate limit',
      'Circuit',
    ]);
    expect(await running).toMatchObject({ success: true });
    await page.getByText(/after \d.* s, with \d attempts/).waitFor();
    expect(await page.locator('.tl-label').allTextContents()).toContain('Attempt 2');
  });

  test('shows a circuit that opens and closes', async () => {
    const page = await enter('ana');
    site.stac.setFaults([{ kind: 'http-503' }]);
    const search = (limit: number) => site.call('search_items', { limit });
    const isOpen = page.locator('.badge').getByText('Open', { exact: true });
    for (let limit = 1; limit <= 12; limit += 1) await search(limit);
    await isOpen.waitFor();
    await page
      .getByText(/^stac .* fails with a server error \(503\)/)
      .first()
      .waitFor();
    site.stac.setFaults([]);
    await expect
      .poll(async () => (await search(20)).success, { interval: 500, timeout: 60_000 })
      .toBe(true);
    await isOpen.waitFor({ state: 'detached' });
  });

  test('says that the server was killed, and recovers when it is back', async () => {
    const page = await enter('ana');
    await page.getByText('Everything works').or(page.getByText('Nothing is broken')).waitFor();
    await site.kill();
    await page.getByRole('alert').getByText('Connection to the server lost').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'The present state is not known',
    );
    await site.restart();
    // Sessions end with their process.
    await page.getByText('You are signed out').waitFor();
  });
});
