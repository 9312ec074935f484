import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { violations } from './support/axe.js';
import { startBrowser, type Browser, type Page, type PageOptions } from './support/browser.js';
import { startFakeServer, type FakeServer } from './support/fake-server.js';
import { incident } from './support/incident.js';
import { calls } from './support/incident-calls.js';
import { APPROVALS } from './support/incident-operations.js';

let browser: Browser;
let server: FakeServer;
/** Errors, refused requests and violations of the content security policy, of all pages of a test. */
let problems: string[] = [];
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  server = await startFakeServer();
  problems = [];
});
afterEach(async () => {
  await browser.closePages();
  await server.close();
});

const open = async (path: string, options?: PageOptions): Promise<Page> => {
  const page = await browser.page(options);
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(message.text()))
      problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) problems.push(`outside request: ${request.url()}`);
  });
  await page.goto(server.url + path);
  await page.locator('main h1').waitFor();
  return page;
};
const settled = async (page: Page): Promise<void> => {
  await expect.poll(() => page.locator('[aria-busy]').count()).toBe(0);
};

const PAGES = [
  '/',
  '/approvals',
  '/approvals?view=expired',
  `/approvals/${APPROVALS[0]?.id}`,
  `/approvals/${APPROVALS[2]?.id}?edit=1`,
  '/operations',
  '/operations?view=all',
  '/operations/op_01JC7Q8Z2M',
  '/calls',
  '/calls/200',
  '/calls/c-in-flight-1',
  '/policy',
  '/tools',
  '/tools/search_items',
  '/audit',
  '/settings',
] as const;

describe('every page', () => {
  test.for([
    ['a desk, light', {}],
    ['a phone, dark', { width: 390, height: 844, dark: true }],
  ] as const)(
    'on %s is accessible and keeps to the content security policy',
    { timeout: 120_000 }, // axe looks at every element of 16 pages
    async ([, options]) => {
      const page = await open('/', options);
      await page.locator('.chart canvas').first().waitFor();
      const found: string[] = [];
      for (const path of PAGES) {
        // As a link does: the page is not loaded again.
        await page.evaluate(
          `history.pushState(null, '', ${JSON.stringify(path)}); dispatchEvent(new Event('popstate'))`,
        );
        await page.locator('main h1').waitFor();
        await settled(page);
        found.push(...(await violations(page)).map((text) => `${path} ${text}`));
        const width = await page.evaluate<number>(
          'document.documentElement.scrollWidth - innerWidth',
        );
        if (width > 0) found.push(`${path} is ${width} px wider than the screen`);
      }
      expect(found).toEqual([]);
      expect(problems).toEqual([]);
    },
  );

  test('shows the time with its zone', async () => {
    const page = await open('/calls/200');
    await expect
      .poll(() => page.locator('.live').textContent())
      .toMatch(/\d\d:\d\d:\d\d (CET|CEST|GMT\+\d)/);
    await page.getByText(/^Ended .* (CET|CEST|GMT\+\d) after/).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a lost connection', () => {
  const expectLost = async (page: Page): Promise<void> => {
    // After 4.5 s of the page's time (connection.test.ts), which a busy machine may stretch.
    await page.getByRole('alert').getByText('Connection to the server lost').waitFor();
    expect(await page.locator('.live').textContent()).toContain('Connection lost');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'The present state is not known',
    );
    expect(await page.title()).toMatch(/^\(!\)/);
  };

  test('is told when the server is killed, and again live when it is back', async () => {
    const page = await open('/');
    await page.getByText('Broken: x is failing').waitFor();
    await server.stop();
    await expectLost(page);
    await server.start();
    await page.getByText('Broken: x is failing').waitFor();
    await expect.poll(() => page.locator('.live').textContent()).toContain('Live');
  });

  test('is told when the server only falls silent', async () => {
    const page = await open('/');
    await page.getByText('Broken: x is failing').waitFor();
    server.mute();
    await expectLost(page);
    // It connects again, which the silent server accepts: that is no sign of health.
    await page.waitForResponse((response) => response.url().includes('/api/events'));
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
    await expectLost(page);
  });

  test('keeps what was known readable, without saying how fresh it is', async () => {
    const page = await open('/');
    await page.getByText('Broken: x is failing').waitFor();
    await page.getByText(/Data at most \d+ s old/).waitFor();
    await server.stop();
    await expectLost(page);
    await page.getByText('When it was last known, 5 decisions waited for you.').waitFor();
    expect(await page.getByText(/Data at most/).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  test('switches actions off', async () => {
    const page = await open('/approvals');
    await server.stop();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).first().isDisabled()).toBe(true);
  });
});

describe('the list of calls', () => {
  const rows = (page: Page) => page.getByRole('table', { name: 'Ended calls' }).getByRole('row');

  test('keeps at most 100 rows in the document, also at the end of a long list', async () => {
    const all = server.addCalls(3_000);
    const page = await open('/calls');
    await rows(page).nth(10).waitFor();
    const oldest = `/calls/${all.at(-1)?.seq}`;
    await expect
      .poll(async () => {
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        expect(await rows(page).count()).toBeLessThanOrEqual(101);
        return page.locator(`a[href="${oldest}"]`).count();
      })
      .toBe(1);
    expect(problems).toEqual([]);
  });

  test('grows live, stands still while it is frozen, and says what it holds back', async () => {
    const page = await open('/calls');
    await rows(page).nth(10).waitFor();
    const ended = (seq: number, tool: string) =>
      calls(Date.now(), 1, seq).map((call) => ({ ...call, tool }));
    server.send({ type: 'calls', data: { calls: ended(9_001, 'a_new_call') } });
    await page.getByRole('link', { name: 'a_new_call' }).waitFor();
    await page.getByRole('button', { name: 'Freeze' }).click();
    server.send({ type: 'calls', data: { calls: ended(9_002, 'a_held_call') } });
    await page.getByRole('button', { name: 'Continue (1 new)' }).waitFor();
    expect(await page.getByRole('link', { name: 'a_held_call' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Continue (1 new)' }).click();
    await page.getByRole('link', { name: 'a_held_call' }).waitFor();
  });

  test('keeps its filters in the address', async () => {
    const page = await open('/calls');
    await page.getByLabel('Code').selectOption('failed');
    await expect.poll(() => new URL(page.url()).search).toBe('?code=failed');
    await expect.poll(() => page.locator('.rows-body .badge.is-ok').count()).toBe(0);
    await page.reload();
    await rows(page).nth(2).waitFor();
    expect(await page.getByLabel('Code').inputValue()).toBe('failed');
    expect(await page.locator('.rows-body .badge.is-ok').count()).toBe(0);
  });

  test('never shows a retry as running', async () => {
    const page = await open('/calls');
    const flying = page.locator('.in-flight li');
    await expect.poll(() => flying.count()).toBe(3);
    const texts = await flying.allTextContents();
    expect(texts[0]).toContain('Waits to retry');
    expect(texts[1]).toContain('Running, 2 requests at once');
    expect(texts[2]).toContain('Retrying: attempt 2');
  });
});

describe('an approval', () => {
  test('is decided with keys, after its consequence is shown', async () => {
    const page = await open('/approvals');
    await page.getByText('posts-need-a-person').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Nothing is sent now. Requests to x (api.x.com) fail').waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Approve for later' }).click();
    await dialog.getByText('Done', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('.approval').count()).toBe(2);
    expect(await page.getByText('Exports work again').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test('is not decided with keys when shortcuts are off', async () => {
    const page = await open('/settings');
    await page.getByLabel('Single keys are shortcuts').uncheck();
    await page.goto(`${server.url}/approvals`);
    await page.getByText('posts-need-a-person').first().waitFor();
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Approve' }).first().waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.locator('kbd').count()).toBe(0);
  });

  test('that another operator decided meanwhile shows the difference and executes nothing', async () => {
    const [first] = APPROVALS;
    const page = await open(`/approvals/${first?.id}`);
    await page.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('region', { name: 'What happens' }).waitFor();
    // The press is faster than the refresh of the preview.
    await page.route('**/api/preview', (route) => route.abort());
    server.change(first?.id ?? '', { state: 'denied' });
    await dialog.getByRole('button', { name: 'Approve for later' }).click();
    await dialog.getByText('The state has changed: nothing was executed').waitFor();
    await dialog.getByText('What changed since you looked').waitFor();
    expect(await dialog.locator('.diff del').textContent()).toBe('undecided');
  });

  test('is edited with a difference, and rejected with a reason', async () => {
    const [first, second] = APPROVALS;
    const page = await open(`/approvals/${second?.id}?edit=1`);
    await page.getByRole('textbox').fill('Exports work again. A report follows on Monday.');
    await page.locator('.diff ins').getByText('Monday').waitFor();
    await page.getByRole('button', { name: 'Edit and approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('What the edit changes').waitFor();
    await dialog.getByRole('button', { name: 'Approve the edited call' }).click();
    await dialog.getByText('State now').waitFor();

    await page.goto(`${server.url}/approvals/${first?.id}`);
    await page.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByLabel('Reason').fill('Wait for the report.');
    await dialog.getByText('The agent receives your reason.').waitFor();
    await dialog.getByRole('button', { name: 'Reject' }).click();
    await dialog.getByText('Rejected. The agent gets your reason.').waitFor();
    expect(problems).toEqual([]);
  });

  test('is approved in a batch of one tool and rule only', async () => {
    const page = await open('/approvals');
    await page.getByLabel('Select x_post_tweet').first().check();
    await page.getByLabel('Select github_create_issue').check();
    const start = page.getByRole('button', { name: 'Compare and approve' });
    expect(await start.isDisabled()).toBe(true);
    await page.getByText('A batch must be of one tool and one rule.').waitFor();
    await page.getByLabel('Select github_create_issue').uncheck();
    await page.getByLabel('Select x_post_tweet').nth(1).check();
    await start.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Exports work again').waitFor();
    await dialog.getByRole('button', { name: 'Approve 2 calls' }).click();
    await expect.poll(() => dialog.getByText('Approved', { exact: true }).count()).toBe(2);
  });

  test('that is edited while a batch is compared is shown as it is now', async () => {
    const [first] = APPROVALS;
    const page = await open('/approvals');
    const boxes = page.getByLabel('Select x_post_tweet');
    await boxes.first().check();
    await boxes.nth(1).check();
    await page.getByRole('button', { name: 'Compare and approve' }).click();
    const dialog = page.getByRole('dialog');
    const approve = dialog.getByRole('button', { name: 'Approve 2 calls' });
    await dialog.getByText('We are looking into elevated error rates').waitFor();
    await expect.poll(() => approve.isEnabled()).toBe(true);
    server.change(first?.id ?? '', { arguments: { text: 'Edited by another operator' } });
    server.send({ type: 'processes', data: { processes: incident(Date.now()).processes } });
    await dialog.getByText('Edited by another operator').waitFor();
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await approve.click();
    await expect.poll(() => dialog.getByText('Approved', { exact: true }).count()).toBe(2);
  });
});

test('an operation shows its call, which is recorded after it', async () => {
  const page = await open('/operations/op_01JC7Q8Z2M');
  await page.getByText('May have been sent').waitFor();
  for (const call of calls(Date.now(), 1, 9_001)) {
    server.endCall({ ...call, attempts: 7, sends: 1, operation_id: 'op_01JC7Q8Z2M' });
  }
  await page.getByText('1 attempt, 6 read-backs').waitFor();
  expect(problems).toEqual([]);
});

test('an operation shows what the read-back found that was just requested', async () => {
  const page = await open('/operations/op_01JC7Q8Z2M');
  await page.getByText('May have been sent').waitFor();
  await page.getByRole('button', { name: 'Check the upstream now' }).click();
  const dialog = page.getByRole('dialog');
  const loaded = page.waitForRequest((sent) => sent.url().endsWith('/operations/op_01JC7Q8Z2M'));
  await dialog.getByRole('button', { name: 'Check now' }).click();
  await dialog.getByText('Still unknown: the read-back failed').waitFor();
  // No event says so.
  await loaded;
  await page.getByText('The read-back failed. x (api.x.com) fails').waitFor();
  expect(await dialog.getByText('See the server log').count()).toBe(0);
  expect(problems).toEqual([]);
});

test('a list of calls shows whole codes', async () => {
  const page = await open('/calls');
  for (const call of calls(Date.now(), 1, 9_001)) {
    server.endCall({ ...call, code: 'upstream_unavailable' });
  }
  const code = page.locator('.row-code .truncate').getByText('upstream_unavailable').first();
  await code.waitFor();
  const hidden = `(() => {
    const codes = [...document.querySelectorAll('.row-code .truncate')];
    const { scrollWidth, clientWidth } = codes.find((one) => one.textContent === 'upstream_unavailable');
    return scrollWidth - clientWidth;
  })()`;
  for (const width of [1280, 1000, 390]) {
    await page.setViewportSize({ width, height: 860 });
    await expect.poll(() => page.evaluate<number>(hidden)).toBe(0);
  }
});

test('the result of the last approval stays on the screen', async () => {
  for (const { id } of APPROVALS.slice(1)) server.change(id, { state: 'denied' });
  const page = await open('/approvals');
  await page.getByRole('button', { name: 'Approve' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Approve for later' }).click();
  await page.getByText('Nothing waits for you').waitFor();
  await dialog.getByText('State now').waitFor();
  expect(await dialog.getByRole('heading', { level: 2 }).textContent()).toBe('Result');
});

test('hostile strings stay text', async () => {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const [first] = APPROVALS;
  server.change(first?.id ?? '', { arguments: { text: hostile }, account: hostile });
  const page = await open(`/approvals/${first?.id}`);
  await page.locator('.post-text').getByText(hostile).waitFor();
  expect(await page.locator('main img, main script').count()).toBe(0);
  await page.goto(`${server.url}/approvals`);
  await page.locator('.decisive-value').getByText(hostile).waitFor();
  expect(await page.title()).toContain('Approvals');
  expect(problems).toEqual([]);
});

test('a page that does not exist says so', async () => {
  const page = await browser.page();
  await page.goto(`${server.url}/nowhere`);
  await page.getByText('There is no such page').waitFor();
  expect(await page.title()).toContain('Not found');
});
