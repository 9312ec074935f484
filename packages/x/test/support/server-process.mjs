// A server in its own process, so that it can be killed. Prints its URL.
const {
  folder,
  config,
  secrets,
  aheadMs: startAheadMs,
  readBackMs,
  profile: name = 'api',
} = JSON.parse(process.env.X_SERVER);

// A test sets the clock instead of waiting.
let aheadMs = startAheadMs;
process.on('message', (message) => {
  ({ aheadMs } = message);
  process.send('set');
});

// Before any import that could capture the clock.
const Real = globalThis.Date;
globalThis.Date = class Date extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + aheadMs] : given));
  }
  static now() {
    return Real.now() + aheadMs;
  }
};

const { acceptControls } = await import('@toolkeel/contract');
const { createHost, decideBy } = await import('@toolkeel/host');
const { createJournal, openEncryption, openStore, packRecords } = await import('@toolkeel/journal');
const { compilePolicy } = await import('@toolkeel/policy');
const { createXPack, x } = await import('@toolkeel/x');

const tools = x.describe().map(acceptControls);
const rules = name === 'workflow' ? { mode: 'autopilot', template: 'open' } : {};
const { policy } = compilePolicy(rules, { profile: name, tools });
const store = await openStore('sqlite:journal.db', { dataDir: folder });
const encryption = await openEncryption(store, folder);
const host = createHost({
  packs: [{ pack: createXPack({ env: secrets, readBackMs }), config }],
  profile: name === 'workflow' ? { name, mode: policy.mode, approvalMode: false } : name,
  policy,
  records: (pack) => packRecords({ store, encryption, pack }),
  journal: (deps) => createJournal({ store, encryption, decide: decideBy(policy), ...deps }),
});
const { url } = await host.listen({ port: 0 });
console.log(`${url}/mcp`);
