import './lib/require-node.mjs';
import { main } from './lib/main.mjs';
import { ready } from './lib/ready.mjs';

await main(ready);
