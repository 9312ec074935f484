export { startCluster, type Cluster } from './postgres.js';
export { testJournal, type TestJournal } from './postgres.js';
export { watchWrites, type WriteWatch } from './watch-writes.js';
export { chooseDriver } from '../store/sqlite/drivers.js';
