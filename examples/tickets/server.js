import { createServer } from '@toolkeel/host';
import { ticketTools } from './tickets.js';

const tools = ticketTools(process.env.TICKETS_URL ?? 'http://127.0.0.1:7500');
await createServer({ name: 'tickets', tools, settings: { profile: 'api' } }).start();
