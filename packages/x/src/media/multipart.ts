import { randomBytes } from 'node:crypto';

const LINE = '\r\n';

/** A form with plain fields and one file, as browsers send it. */
export function multipart(fields: Readonly<Record<string, string>>, file: Buffer) {
  const boundary = `toolkeel-${randomBytes(18).toString('hex')}`;
  const part = (disposition: string, more: string): string =>
    [`--${boundary}`, `Content-Disposition: form-data; ${disposition}`, more, ''].join(LINE);
  const plain = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`, '')}${value}${LINE}`,
  );
  const type = `Content-Type: application/octet-stream${LINE}`;
  const head = `${plain.join('')}${part('name="media"; filename="blob"', type)}`;
  const body = Buffer.concat([
    Buffer.from(head),
    file,
    Buffer.from(`${LINE}--${boundary}--${LINE}`),
  ]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
