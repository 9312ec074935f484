/**
 * The chaos server on stdin and stdout.
 *
 * @module
 */
import { createInterface } from 'node:readline';
import { isModern } from './protocol.mjs';

const write = (text) => new Promise((resolve) => void process.stdout.write(text, resolve));
const send = (frame) => void process.stdout.write(`${JSON.stringify(frame)}\n`);

export const serveStdio = (protocol, { probe, ignoresEnd }) => {
  protocol.listeners.add(send);
  const exchange = {
    send,
    partial: write,
    garbage: (lines, right) => {
      for (const line of lines) process.stdout.write(`${line}\n`);
      send(right);
    },
    // A stdio server has no other way to fail: it answers.
    fail: (_, right) => send(right),
    listen: (message) => {
      const _meta = { 'io.modelcontextprotocol/subscriptionId': message.id };
      send({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta },
      });
    },
  };
  let isFirst = true;
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = JSON.parse(line);
    const isProbe = isFirst && isModern(message);
    isFirst = false;
    if (isProbe && probe === 'exit') process.exit(1);
    if (isProbe && probe === 'silent') return;
    void protocol.handle(exchange, message);
  });
  lines.on('close', () => {
    if (!ignoresEnd) process.exit(0);
  });
};
