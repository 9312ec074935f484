import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { App, Octokit } from 'octokit';
import { runTool } from '@toolkeel/contract';
import {
  configSchema,
  createGitHubPack,
  createTokenCache,
  GitHubClient,
  InstallationClient,
} from '@toolkeel/github';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import { startGithubSandbox } from '@toolkeel/sandbox';
import { main } from '../scripts/lib/main.mjs';
import { inRoot } from '../scripts/lib/paths.mjs';

const help = `Send the same faults to Octokit and to @toolkeel/github, and compare what reaches GitHub.

  npm run compare:octokit               run in about two minutes and write docs/github-octokit.md
  npm run compare:octokit -- --print    print the table; write nothing

Exits with code 1 if @toolkeel/github misses one of its results.
`;

/** @typedef {import('@toolkeel/sandbox').GithubSandbox} GithubSandbox */
/** @typedef {{ readonly text: string, readonly holds?: boolean }} Result */

const POSTS = { octokit: 20, ours: 1000 };
const unlimited = {
  limits: { core: 1e9, graphql: 1e9 },
  secondary: { pointsPerMinute: 1e9, contentPerMinute: 1e9, contentPerHour: 1e9 },
};
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const REPO = 'GET /repos/{owner}/{repo}';

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {GithubSandbox} github */
const at = ({ landmarks: { owner, repo } }) => ({ owner, repo });

/**
 * @param {GithubSandbox} github
 * @param {object} [options]
 */
const octokitOf = (github, options = {}) =>
  new Octokit({ auth: github.token, baseUrl: github.url, log: silent, ...options });

/**
 * @param {GithubSandbox} github
 * @param {object} [options]
 */
const clientOf = (github, options = {}) =>
  new GitHubClient({
    baseUrl: github.url,
    token: github.token,
    pacing: { mutationIntervalMs: 0 },
    ...options,
  });

/**
 * @template T
 * @param {(github: GithubSandbox) => Promise<T>} use
 * @param {import('@toolkeel/sandbox').GithubSandboxOptions} [options]
 */
async function withSandbox(use, options = {}) {
  const github = await startGithubSandbox(options);
  try {
    return await use(github);
  } finally {
    await github.close();
  }
}

/** @param {readonly PromiseSettledResult<unknown>[]} results */
const succeeded = (results) => results.filter(({ status }) => status === 'fulfilled').length;

const cutSocket = [{ kind: /** @type {const} */ ('reset-after-read'), routes: ['create-comment'] }];

const cases = [
  {
    name: `POST whose socket is cut after the commit (Octokit ${POSTS.octokit}, ours ${POSTS.ours}; pacing off)`,
    octokit: () =>
      withSandbox(async (github) => {
        github.setFaults(cutSocket);
        // Its delays of 1, 4 and 9 s are shortened; what is sent does not change.
        const octokit = octokitOf(github, { retry: { retryAfterBaseValue: 10 } });
        const posts = Array.from({ length: POSTS.octokit }, (_, index) =>
          octokit.request('POST /repos/{owner}/{repo}/issues/{number}/comments', {
            ...at(github),
            number: github.landmarks.issue,
            body: `post ${index}`,
          }),
        );
        const found = succeeded(await Promise.allSettled(posts));
        const sends = github.commits().length / POSTS.octokit;
        return {
          text: `${sends} sends each, ${github.duplicates().length} duplicates, ${found} results`,
        };
      }, unlimited),
    ours: () =>
      withSandbox(async (github) => {
        github.setFaults(cutSocket);
        const found = await postComments(github, POSTS.ours);
        const duplicates = github.commits().length - POSTS.ours;
        return {
          text: `1 send each, ${duplicates} duplicates, ${found} results with the created id`,
          holds: duplicates === 0 && found === POSTS.ours,
        };
      }, unlimited),
  },
  {
    name: 'requests sent inside a Retry-After window of 2 s, 5 queued',
    octokit: () => withSandbox((github) => insideWindow(github, octokitOf(github).request)),
    ours: () =>
      withSandbox(async (github) => {
        const client = clientOf(github);
        const result = await insideWindow(
          github,
          (route, given) => client.read(route, given),
          () => client.rateLimits().blockedUntil !== undefined,
        );
        await client.close();
        return { ...result, holds: result.text === '0 of 5' };
      }),
  },
  {
    name: 'requests sent while remaining is 0, 20 requested',
    octokit: () =>
      atZero((url) => {
        const octokit = new Octokit({ auth: 'ghp_x', baseUrl: url, log: silent });
        return (given) => octokit.request(REPO, given);
      }),
    ours: async () => {
      const result = await atZero((url) => {
        const client = new GitHubClient({ baseUrl: url, token: 'ghp_x' });
        return (given) => client.read(REPO, given, { timeoutMs: 500 });
      });
      return { ...result, holds: result.text === '0 of 20' };
    },
  },
  {
    name: 'abort during a 3 s wait for a limit',
    octokit: () =>
      withSandbox(async (github) => ({
        text: `${await abortLatency(github, (signal) =>
          octokitOf(github).request(REPO, { ...at(github), request: { signal } }),
        )} ms`,
      })),
    ours: () =>
      withSandbox(async (github) => {
        const client = clientOf(github);
        const ms = await abortLatency(github, (signal) =>
          client.read(REPO, at(github), { signal }),
        );
        await client.close();
        return { text: `${ms} ms`, holds: ms < 50 };
      }),
  },
  {
    name: 'cached installation token revoked 6 s after it was minted, then 3 requests',
    octokit: () =>
      withSandbox(async (github) => {
        const octokit = await installationOctokit(github);
        await octokit.request(REPO, at(github));
        const { token } = /** @type {{ token: string }} */ (
          await octokit.auth({ type: 'installation' })
        );
        await pause(6_000);
        github.revokeToken(token);
        const results = [];
        for (let count = 0; count < 3; count += 1)
          results.push(...(await Promise.allSettled([octokit.request(REPO, at(github))])));
        const healed = succeeded(results);
        return { text: healed === 0 ? 'never healed' : `${healed} of 3 succeed` };
      }),
    ours: () =>
      withSandbox(async (github) => {
        const tokenCache = createTokenCache();
        const client = new InstallationClient({ baseUrl: github.url, ...github.app(), tokenCache });
        await client.read(REPO, at(github));
        await pause(6_000);
        for (const { token } of tokenCache.tokens.values()) github.revokeToken(token);
        github.clearLog();
        const results = [];
        for (let count = 0; count < 3; count += 1)
          results.push(...(await Promise.allSettled([client.read(REPO, at(github))])));
        await client.close();
        const { byRoute } = github.counts();
        const extra = (byRoute['repo'] ?? 0) - 3;
        const minted = byRoute['create-installation-token'] ?? 0;
        const healed = succeeded(results);
        return {
          text: `${healed} of 3 succeed, ${extra} extra call and ${minted} new token`,
          holds: healed === 3 && extra === 1 && minted === 1,
        };
      }),
  },
  {
    name: 'two hosts with the same installation id at once',
    octokit: () =>
      twoHosts(async (github) => {
        const octokit = await installationOctokit(github);
        return /** @type {{ token: string }} */ (await octokit.auth({ type: 'installation' }))
          .token;
      }),
    ours: async () => {
      const tokenCache = createTokenCache();
      const result = await twoHosts(async (github) => {
        const client = new InstallationClient({ baseUrl: github.url, ...github.app(), tokenCache });
        await client.read(REPO, at(github));
        await client.close();
        const own = [...tokenCache.tokens].find(([key]) => key.includes(github.url));
        return own?.[1].token ?? '';
      });
      return { ...result, holds: result.text === 'a token of its own for each' };
    },
  },
  {
    name: '503 with Retry-After 5',
    octokit: () =>
      withSandbox((github) =>
        retryDelay(github, () => octokitOf(github).request(REPO, at(github))),
      ),
    ours: () =>
      withSandbox(async (github) => {
        const client = clientOf(github);
        const result = await retryDelay(github, () => client.read(REPO, at(github)));
        await client.close();
        return { ...result, holds: result.seconds >= 5 };
      }),
  },
];

/**
 * Posts comments through the tool and its journal, a few at a time. Returns how many got the id that the
 * sandbox committed.
 *
 * @param {GithubSandbox} github
 * @param {number} count
 */
async function postComments(github, count) {
  const config = configSchema.parse({
    baseUrl: github.url,
    token: { env: 'TOKEN' },
    pacing: {
      mutationIntervalMs: 0,
      pointsPerMinute: 1e6,
      contentPerMinute: 1e6,
      contentPerHour: 1e6,
    },
  });
  const pack = await createGitHubPack({ env: { TOKEN: github.token } }).create(config, {
    now: () => performance.now(),
    random: Math.random,
    log: () => {},
    observe: () => {},
  });
  const journal = createJournal({
    store: memoryStore(),
    encryption: ephemeralEncryption(),
    tools: {
      specs: () => pack.tools,
      load: (name) => pack.tools.find((tool) => tool.name === name),
    },
  });
  const tool = pack.tools.find(({ name }) => name === 'github_comment');
  if (!tool) throw new Error('no tool github_comment');
  const { signal } = new AbortController();
  const { owner, repo, issue: number } = github.landmarks;
  let next = 0;
  let found = 0;
  const worker = async () => {
    while (next < count) {
      const body = `post ${(next += 1)}`;
      const { envelope } = await runTool(
        tool,
        { repo: `${owner}/${repo}`, number, body },
        {
          middleware: (call, run) => {
            const deadline = performance.now() + 60_000;
            const scope = { deadline, signal, meta: {}, hold: () => undefined };
            return journal.middleware(call, (extra) => run({ deadline, signal, ...extra }), scope);
          },
        },
      );
      const id = envelope.success && /** @type {{ id: number }} */ (envelope.data).id;
      const isOwn = github
        .commits()
        .some((commit) => commit.id === id && commit.content.includes(`${body}\\n`));
      if (isOwn) found += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await pack.close();
  return found;
}

/**
 * @param {GithubSandbox} github
 * @param {(route: string, given: object) => Promise<unknown>} send
 * @param {() => boolean} [isRead] whether the client has read the limit, where it can tell
 */
async function insideWindow(github, send, isRead = () => true) {
  github.setFaults([{ kind: 'github-429-secondary', retryAfter: { seconds: 2 }, times: 1 }]);
  const first = send(REPO, at(github));
  while (github.counts().byOutcome['answered'] !== 1) await pause(5);
  // The answer is on its way to the client.
  await pause(200);
  while (!isRead()) await pause(5);
  const queued = Array.from({ length: 5 }, () =>
    send('GET /repos/{owner}/{repo}/issues', at(github)),
  );
  await Promise.allSettled([first, ...queued]);
  // By the sandbox's clock: this process may have been stalled before it saw that the sandbox answered, and a
  // window that is counted from then on is too long.
  const limitedAt = github.log({ route: 'repo' })[0]?.at ?? Infinity;
  const inside = github
    .log({ route: 'issues' })
    .filter(({ at: sentAt }) => sentAt < limitedAt + 2_000);
  return { text: `${inside.length} of 5` };
}

/**
 * An upstream whose every answer is a success that reports no remaining request.
 *
 * @param {(url: string) => (given: { owner: string, repo: string }) => Promise<unknown>} connect
 */
async function atZero(connect) {
  let received = 0;
  const server = createServer((_request, response) => {
    received += 1;
    response.writeHead(200, {
      'content-type': 'application/json',
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
      'x-ratelimit-resource': 'core',
    });
    response.end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const send = connect(`http://127.0.0.1:${port}`);
  await send({ owner: 'o', repo: 'first' });
  await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => send({ owner: 'o', repo: `r${index}` })),
  );
  server.close();
  server.closeAllConnections();
  return { text: `${received - 1} of 20` };
}

/**
 * @param {GithubSandbox} github
 * @param {(signal: AbortSignal) => Promise<unknown>} send
 */
async function abortLatency(github, send) {
  // A 403, because Octokit retries a 429 after a second, without its wait.
  github.setFaults([{ kind: 'github-403-secondary', retryAfter: { seconds: 3 }, times: 1 }]);
  const controller = new AbortController();
  const ended = send(controller.signal).then(
    () => performance.now(),
    () => performance.now(),
  );
  while (github.counts().byOutcome['answered'] !== 1) await pause(5);
  await pause(100);
  const abortedAt = performance.now();
  controller.abort();
  return Math.round((await ended) - abortedAt);
}

/** @param {GithubSandbox} github */
async function installationOctokit(github) {
  const { appId, privateKey, installationId } = github.app();
  const app = new App({
    appId,
    privateKey,
    log: silent,
    Octokit: Octokit.defaults({ baseUrl: github.url, log: silent }),
  });
  return app.getInstallationOctokit(installationId);
}

/** @param {(github: GithubSandbox) => Promise<string>} tokenFor */
async function twoHosts(tokenFor) {
  return withSandbox(
    (one) =>
      withSandbox(
        async (other) => {
          const [first, second] = await Promise.all([tokenFor(one), tokenFor(other)]);
          const isForeign = second === first || !other.revokeToken(second);
          return {
            text: isForeign
              ? 'the second gets the token of the first'
              : 'a token of its own for each',
          };
        },
        { seed: 2 },
      ),
    { seed: 1 },
  );
}

/**
 * @param {GithubSandbox} github
 * @param {() => Promise<unknown>} send
 */
async function retryDelay(github, send) {
  github.setFaults([{ kind: 'http-503', retryAfter: { seconds: 5 }, times: 1 }]);
  await Promise.allSettled([send()]);
  const [first, second] = github.log({ route: 'repo' });
  const seconds = first && second ? (second.at - first.at) / 1000 : Infinity;
  return { text: second ? `retried after ${seconds.toFixed(1)} s` : 'not retried', seconds };
}

/** @param {readonly (readonly string[])[]} rows */
const table = (rows) =>
  [
    '| case | Octokit | @toolkeel/github |',
    '| --- | --- | --- |',
    ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');

/** @param {readonly (readonly string[])[]} rows */
const page = (rows) => `# GitHub client: compared with Octokit

Both clients send the same requests to the GitHub sandbox while it injects the same faults; the sandbox's log is the ground truth. Octokit is the package \`octokit\` 5.0.5 with its default plugins (retry, throttling, auth-app). Written by \`npm run compare:octokit\` on Node.js ${process.versions.node}; our side is held by \`packages/github/test\`.

${table(rows)}

- Cut sockets: our comments go through \`github_comment\` and its journal, which finds each one by its marker. Octokit's retry delays are divided by 100 in this case; the number of sends does not change.
- Retry-After: the five requests are issued 200 ms after the sandbox has sent the limit, so that the client has read it (ours confirms that it has). The window is counted in the sandbox's log, from the limited request. Requests issued before the client reads the answer are sent, by either client.
- \`remaining\` 0: every answer is a 200 that reports no remaining request.
`;

await main(async () => {
  const { values } = parseArgs({
    options: { print: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const rows = [];
  let isMet = true;
  for (const { name, octokit, ours } of cases) {
    process.stderr.write(`${name}\n`);
    const theirs = await octokit();
    /** @type {Result} */
    const own = await ours();
    isMet &&= own.holds ?? false;
    rows.push([name, theirs.text, own.holds ? own.text : `${own.text} (missed)`]);
  }
  process.stdout.write(`${table(rows)}\n`);
  if (!values.print) writeFileSync(inRoot('docs', 'github-octokit.md'), page(rows));
  return isMet ? 0 : 1;
});
