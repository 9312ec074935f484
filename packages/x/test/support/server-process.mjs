// A server in its own process, so that it can be killed. Prints its URL.
const { folder, config, secrets, aheadMs, readBackMs } = JSON.parse(process.env.X_SERVER);

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
const { createJournal, openEncryption, openStore } = await import('@toolkeel/journal');
const { compilePolicy } = await import('@toolkeel/policy');
const { createXPack, x } = await import('@toolkeel/x');

const tools = x.describe().map(acceptControls);
const { policy } = compilePolicy({}, { profile: 'api', tools });
const store = await openStore('sqlite:journal.db', { dataDir: folder });
const encryption = await openEncryption(store, folder);
const host = createHost({
  packs: [{ pack: createXPack({ env: secrets, readBackMs }), config }],
  profile: 'api',
  policy,
  journal: (deps) => createJournal({ store, encryption, decide: decideBy(policy), ...deps }),
});
const { url } = await host.listen({ port: 0 });
console.log(`${url}/mcp`);
