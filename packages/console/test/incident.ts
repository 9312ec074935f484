import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startInstallation, type Installation } from './support/served.js';

/**
 * `npm run console:incident`: an outage of an upstream with an open circuit, two posts with an unknown outcome, three
 * pending approvals and an expired one. One of the two servers is on stdio. It ends after an hour, or with Ctrl-C.
 */
const RULES = [
  {
    name: 'ask before announcements',
    when: { tool: 'x_post_tweet', 'args.text': { contains: 'announce' } },
    action: 'require_approval',
    reason: 'Announcements are read by a person first.',
  },
  {
    name: 'urgent',
    when: { tool: 'x_post_tweet', 'args.text': { contains: 'URGENT' } },
    action: 'require_approval',
    expiresInHours: 0.001,
  },
  { name: 'ask before follows', when: { tool: 'x_follow_user' }, action: 'require_approval' },
];
const HOUR_MS = 3_600_000;
const SEARCH_MS = 5_000;

const lost = (kind: 'acted-http-503' | 'reset-before-read') =>
  [
    { kind, routes: ['create-post'], times: 1 },
    { kind: 'http-503', routes: ['user-posts'] },
  ] as const;

async function cause(site: Installation): Promise<void> {
  const codeOf = async (tool: string, args: Record<string, unknown>): Promise<string> =>
    (await site.call(tool, args)).error?.code ?? 'ok';
  const post = (text: string): Promise<string> => codeOf('x_post_tweet', { text });
  for (let limit = 1; limit <= 12; limit++) await codeOf('search_items', { limit });
  for (const day of ['Monday', 'Tuesday', 'Wednesday', 'Thursday']) {
    expect(await post(`Status of ${day}: all collections are up to date.`)).toBe('ok');
  }
  const asked = [
    await post('URGENT: the download service stops at noon.'),
    await post('We announce version 3: catalogues load twice as fast. https://example.org/notes/3'),
    await post('We announce a webinar on Thursday at 15:00 UTC: https://example.org/webinar'),
    await codeOf('x_follow_user', { target_user_id: site.x.landmarks.strangerId }),
  ];
  expect(new Set(asked)).toEqual(new Set(['approval_required']));
  site.x.setFaults([...lost('acted-http-503')]);
  const first = await post('Maintenance tonight from 22:00 to 23:00 UTC; downloads pause.');
  site.x.setFaults([...lost('reset-before-read')]);
  const second = await post('The Landsat collection of 2026 is complete: 1,204 scenes.');
  expect([first, second]).toEqual(['outcome_unknown', 'outcome_unknown']);
  site.stac.setFaults([{ kind: 'http-503' }]);
  let code = '';
  for (let limit = 1; limit <= 40 && code !== 'circuit_open'; limit++) {
    code = await codeOf('search_items', { limit });
  }
  expect(code).toBe('circuit_open');
}

/** Resolves when this process is asked to end, or when the one that started it has ended: its servers must not remain. */
const ended = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
    process.once('disconnect', resolve);
  });

test('an incident', { timeout: 2 * HOUR_MS }, async () => {
  const end = ended();
  const site = await startInstallation(RULES);
  try {
    await Promise.race([cause(site), end]);
    expect(site.url).toContain('http://127.0.0.1');
    process.stdout.write(`\nOpen ${await site.link('operator')}\nPress Ctrl-C to stop.\n`);
    const minutes = Number(process.env['TOOLKEEL_INCIDENT_MINUTES'] ?? 60);
    const until = Date.now() + Math.min(minutes * 60_000, HOUR_MS);
    const isOver = end.then(() => true);
    for (let limit = 1; Date.now() < until; limit++) {
      await Promise.race([site.call('search_items', { limit: 1 + (limit % 20) }), end]);
      if (await Promise.race([sleep(SEARCH_MS, false), isOver])) break;
    }
  } finally {
    await site.close();
  }
});
