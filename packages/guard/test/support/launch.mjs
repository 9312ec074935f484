// Temporary: stands in for `toolkeel guard` on stdio.
import { loadConfig } from '@toolkeel/host';
import { createGuard, upstreamSchema } from '@toolkeel/guard';

const { upstream, config } = JSON.parse(process.argv[2]);
const loaded = loadConfig({ flags: config });
const guard = createGuard({ loaded, name: 'chaos', config: upstreamSchema.parse(upstream) });
await guard.stdio(new Promise((resolve) => process.once('SIGTERM', resolve)));
