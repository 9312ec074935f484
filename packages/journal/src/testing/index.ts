export { startCluster, type Cluster } from './cluster.js';
export { testJournal, type TestJournal } from './journal-url.js';
export { watchWrites, type WriteWatch } from './watch-writes.js';
