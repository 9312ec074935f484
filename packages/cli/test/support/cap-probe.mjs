// Loaded into a server with `--import`: measures, in its own process, a call against a bare timer.
// The timer is set when the call's bytes have arrived and nobody has looked at them yet.
import { performance } from 'node:perf_hooks';

const capMs = Number(process.env.CAP_PROBE_MS);
const { stdin, stdout } = process;
let arrivedAt = 0;
let answeredMs;
let controlMs;

const report = () => {
  if (answeredMs === undefined || controlMs === undefined) return;
  process.stderr.write(`${JSON.stringify({ event: 'cap_probe', answeredMs, controlMs })}\n`);
};

const emit = stdin.emit.bind(stdin);
stdin.emit = (name, ...rest) => {
  if (name === 'data' && arrivedAt === 0 && String(rest[0]).includes('"tools/call"')) {
    arrivedAt = performance.now();
    setTimeout(() => {
      controlMs = performance.now() - arrivedAt;
      report();
    }, capMs);
  }
  return emit(name, ...rest);
};

const write = stdout.write.bind(stdout);
stdout.write = (...args) => {
  const sent = write(...args);
  if (arrivedAt > 0 && answeredMs === undefined) {
    answeredMs = performance.now() - arrivedAt;
    report();
  }
  return sent;
};
