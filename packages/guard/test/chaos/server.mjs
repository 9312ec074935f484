/**
 * An MCP server without the SDK that misbehaves on request, to test what stands in front of it.
 *
 *     node server.mjs DIR [--http PORT] [--era legacy|modern|both] [--start-ms N] [--die-first N]
 *                         [--probe answer|silent|exit] [--ignore-end] [--changed-after-restart] [--pretty]
 *
 * With `--http` it prints its URL.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { serveHttp } from './http.mjs';
import { createProtocol } from './protocol.mjs';
import { serveStdio } from './stdio.mjs';
import { openWorld } from './world.mjs';

const {
  values,
  positionals: [dir],
} = parseArgs({
  allowPositionals: true,
  options: {
    http: { type: 'string' },
    era: { type: 'string', default: 'both' },
    'start-ms': { type: 'string', default: '0' },
    'die-first': { type: 'string', default: '0' },
    probe: { type: 'string', default: 'answer' },
    'ignore-end': { type: 'boolean', default: false },
    'changed-after-restart': { type: 'boolean', default: false },
  },
});

const world = openWorld(dir);
const protocol = createProtocol(world, {
  era: values.era,
  changedAfterRestart: values['changed-after-restart'],
  argv: process.argv.slice(2),
});
if (protocol.startNumber <= Number(values['die-first'])) process.exit(1);
if (values['ignore-end']) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  setInterval(() => {}, 1 << 30);
}
await sleep(Number(values['start-ms']));
if (values.http === undefined)
  serveStdio(protocol, { probe: values.probe, ignoresEnd: values['ignore-end'] });
else {
  const url = await serveHttp(protocol, Number(values.http));
  console.log(url);
  if (!values['ignore-end']) process.stdin.resume().on('end', () => process.exit(0));
}
