import { commandNotifier, webhookNotifier, type NotificationMessage } from '@toolkeel/journal';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const message: NotificationMessage = {
  kind: 'operation_unknown',
  operation_id: 'op_1',
  tool: 'post',
  account: 'main',
  at: '2026-03-01T12:00:00.000Z',
};

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

async function webhook(
  answer: (request: IncomingMessage, body: string) => [number, object?] | undefined,
) {
  const made = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const answered = answer(request, body);
      if (answered) response.writeHead(answered[0], { ...answered[1] }).end('{"a":1}');
    });
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}/hook`;
}

describe('a webhook', () => {
  it('receives the notification as JSON, with the configured headers', async () => {
    const seen: unknown[] = [];
    const url = await webhook(({ method, headers }, body) => {
      seen.push(method, headers['content-type'], headers.authorization, JSON.parse(body));
      return [204];
    });
    await webhookNotifier({ url, headers: { authorization: 'Bearer t' } })(message);
    expect(seen).toEqual(['POST', 'application/json', 'Bearer t', message]);
  });

  it.each([500, 404])('that answers %i counts as failed', async (status) => {
    const url = await webhook(() => [status]);
    await expect(webhookNotifier({ url })(message)).rejects.toThrow(String(status));
  });

  it('is not followed on a redirect', async () => {
    let requests = 0;
    const url = await webhook(() => {
      requests += 1;
      return [307, { location: '/elsewhere' }];
    });
    await expect(webhookNotifier({ url })(message)).rejects.toThrow();
    expect(requests).toBe(1);
  });

  it('that does not answer times out', async () => {
    const url = await webhook(() => undefined);
    await expect(webhookNotifier({ url, timeoutMs: 50 })(message)).rejects.toThrow();
  });

  it('must be an HTTP URL', () => {
    expect(() => webhookNotifier({ url: 'file:///etc/passwd' })).toThrow('notify.url');
  });
});

describe('a command', () => {
  const node = process.execPath;

  it('receives the notification on stdin, without a shell', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'toolkeel-notify-'));
    const file = join(dir, 'told; touch injected');
    const program =
      'let t = ""; process.stdin.on("data", (c) => (t += c)).on("end", () => require("fs").writeFileSync(process.argv[1], t));';
    try {
      await commandNotifier({ command: [node, '-e', program, file] })(message);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(message);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('that fails, does not exist or does not end counts as failed', async () => {
    await expect(
      commandNotifier({ command: [node, '-e', 'process.exit(3)'] })(message),
    ).rejects.toThrow('3');
    await expect(commandNotifier({ command: ['/does/not/exist'] })(message)).rejects.toThrow();
    const endless = commandNotifier({
      command: [node, '-e', 'setInterval(() => {}, 1000)'],
      timeoutMs: 200,
    });
    await expect(endless(message)).rejects.toThrow('SIGKILL');
  });

  it('that does not read its stdin counts as notified', async () => {
    const deaf = commandNotifier({ command: [node, '-e', 'process.stdin.destroy()'] });
    await expect(deaf(message)).resolves.toBeUndefined();
  });
});
