/**
 * Serves GitHub's recorded exchanges in a process of its own, because it replaces node:http. Prints its port.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import express from 'express';
import fixturesServer from '@octokit/fixtures-server';

const scenarios = join(
  dirname(createRequire(import.meta.url).resolve('@octokit/fixtures/package.json')),
  'scenarios/api.github.com',
);

// Credentials, media types and versions of our client differ from the recorded ones.
const fixtures = Object.fromEntries(
  readdirSync(scenarios).map((name) => {
    const file = join(scenarios, name, 'normalized-fixture.json');
    const exchanges = JSON.parse(readFileSync(file, 'utf8'));
    return [name, exchanges.map((exchange) => ({ ...exchange, reqheaders: {} }))];
  }),
);

// The server expects the exchanges of a scenario in their order, so those that are never sent are left out.
const isSupported = ({ scope, path }) =>
  scope === 'https://api.github.com:443' && !path.includes('/tarball/');
const supported = Object.fromEntries(
  Object.entries(fixtures)
    .map(([name, exchanges]) => [name, exchanges.filter(isSupported)])
    .filter(([, exchanges]) => exchanges.length > 0),
);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const app = express();
  app.get('/scenarios', (_request, response) => response.json(fixtures));
  app.use(
    fixturesServer({
      port,
      fixturesUrl: `http://127.0.0.1:${port}`,
      fixtures: supported,
      logLevel: 'silent',
      ttl: 60_000,
    }),
  );
  server.on('request', app);
  process.stdout.write(`${port}\n`);
});
