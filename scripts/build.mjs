import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/build.mjs';

await main(ready);
