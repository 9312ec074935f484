// Responds once, after its cap and a configurable delay: tests the measurement itself.
const { CAP_PROBE_MS, HOW } = process.env;

process.stdin.on('data', () => {
  setTimeout(() => {
    if (HOW === 'stopped') {
      process.stderr.write('stopping\n');
      process.kill(process.pid, 'SIGSTOP');
    }
    const from = process.cpuUsage();
    const computed = () => {
      const { user, system } = process.cpuUsage(from);
      return user + system;
    };
    const wanted = HOW === 'computing' ? 300_000 : 0;
    while (computed() < wanted);
    setTimeout(() => process.stdout.write('{}\n'), HOW === 'waiting' ? 300 : 0);
  }, Number(CAP_PROBE_MS));
});
