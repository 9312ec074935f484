// Loaded into a server with `--import`: compares the duration of a call with a bare timer in the same
// process. The timer starts when the bytes of the call arrive, before they are parsed. Additional
// timers tick until the response: time between two ticks that the process neither requested nor spent
// computing is time without CPU. It counts only where it delays the response more than the timer: when
// the call starts, and after its cap.
import { performance } from 'node:perf_hooks';

const TICK_MS = 10;
/** Normal scheduling latency of an idle machine. */
const SCHEDULING_MS = 5;

const capMs = Number(process.env.CAP_PROBE_MS);
const { stdin, stdout } = process;
let arrivedAt = 0;
let answeredMs;
let controlMs;
let stolenMs = 0;
let last;

const look = () => {
  const { user, system } = process.cpuUsage();
  return { at: performance.now(), computedMs: (user + system) / 1000 };
};

const account = () => {
  const now = look();
  const lost = now.at - last.at - TICK_MS - (now.computedMs - last.computedMs);
  const counts = last.at === arrivedAt || now.at >= arrivedAt + capMs;
  if (counts && lost > SCHEDULING_MS) stolenMs += lost;
  last = now;
};

const tick = () => {
  if (answeredMs !== undefined) return;
  account();
  setTimeout(tick, TICK_MS).unref();
};

const report = () => {
  if (answeredMs === undefined || controlMs === undefined) return;
  const line = { event: 'cap_probe', answeredMs, controlMs, stolenMs };
  process.stderr.write(`${JSON.stringify(line)}\n`);
};

const emit = stdin.emit.bind(stdin);
stdin.emit = (name, ...rest) => {
  if (name === 'data' && arrivedAt === 0 && String(rest[0]).includes('"tools/call"')) {
    last = look();
    arrivedAt = last.at;
    setTimeout(() => {
      controlMs = performance.now() - arrivedAt;
      report();
    }, capMs);
    setTimeout(tick, TICK_MS).unref();
  }
  return emit(name, ...rest);
};

const write = stdout.write.bind(stdout);
stdout.write = (...args) => {
  const sent = write(...args);
  if (arrivedAt > 0 && answeredMs === undefined) {
    answeredMs = performance.now() - arrivedAt;
    account();
    report();
  }
  return sent;
};
