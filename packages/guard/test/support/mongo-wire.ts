import { createServer, type AddressInfo, type Socket } from 'node:net';
import { BSON } from 'bson';

export type Document = Record<string, unknown>;

/** Answers a command. Undefined: the connection is closed without an answer. */
export type Answer = (command: Document) => Document | undefined;

export interface MongoServer {
  readonly port: number;
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER_BYTES = 16;

/** A server of MongoDB's wire protocol: OP_MSG, and OP_QUERY for the first command of a connection. */
export async function startWire(answer: Answer): Promise<MongoServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= HEADER_BYTES && received.length >= received.readInt32LE(0)) {
        const frame = received.subarray(0, received.readInt32LE(0));
        received = received.subarray(frame.length);
        const reply = answer(commandIn(frame));
        if (!reply) return void socket.destroy();
        socket.write(frameOf(reply, frame));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        sockets.forEach((socket) => socket.destroy());
      }),
  };
}

function commandIn(frame: Buffer): Document {
  const documentAt = (at: number): Document =>
    BSON.deserialize(frame.subarray(at, at + frame.readInt32LE(at)));
  const code = frame.readInt32LE(12);
  if (code === OP_QUERY) return documentAt(frame.indexOf(0, HEADER_BYTES + 4) + 1 + 8);
  if (code !== OP_MSG) throw new Error(`no support for operation ${code}`);
  const hasChecksum = (frame.readUInt32LE(HEADER_BYTES) & 1) !== 0;
  const end = frame.length - (hasChecksum ? 4 : 0);
  const command: Document = {};
  // A body, and sequences of documents that are members of it: { insert, …, documents }.
  for (let at = HEADER_BYTES + 4; at < end;) {
    const isBody = frame[at] === 0;
    const size = frame.readInt32LE(at + 1);
    if (isBody) Object.assign(command, documentAt(at + 1));
    else {
      const nameEnd = frame.indexOf(0, at + 5);
      const documents: Document[] = [];
      for (let next = nameEnd + 1; next < at + 1 + size; next += frame.readInt32LE(next)) {
        documents.push(documentAt(next));
      }
      command[frame.toString('utf8', at + 5, nameEnd)] = documents;
    }
    at += 1 + size;
  }
  return command;
}

function frameOf(reply: Document, request: Buffer): Buffer {
  const isMessage = request.readInt32LE(12) === OP_MSG;
  // OP_MSG: flags, kind of the section. OP_REPLY: flags, cursor, first document, number of documents.
  const before = Buffer.alloc(isMessage ? 5 : 20);
  if (!isMessage) before.writeInt32LE(1, 16);
  const body = BSON.serialize(reply);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeInt32LE(HEADER_BYTES + before.length + body.length, 0);
  header.writeInt32LE(request.readInt32LE(4), 8);
  header.writeInt32LE(isMessage ? OP_MSG : OP_REPLY, 12);
  return Buffer.concat([header, before, body]);
}
