// The same validation and answer behind a plain JSON endpoint: what HTTP alone costs.
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { echo } from './echo.mjs';

const app = new Hono();
app.post('/mcp', async (context) => {
  const { id, params } = await context.req.json();
  const parsed = echo.input.safeParse(params.arguments);
  if (!parsed.success) {
    return context.json({ jsonrpc: '2.0', id, error: { code: -32602, message: 'invalid' } });
  }
  const structuredContent = echo.output.parse({ text: parsed.data.text });
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  return context.json({ jsonrpc: '2.0', id, result: { structuredContent, content } });
});
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}/mcp`),
);
