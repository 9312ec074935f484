import { createSign } from 'node:crypto';
import { request } from 'undici';
import { afterEach } from 'vitest';
import {
  startGithubSandbox,
  type GithubSandbox,
  type GithubSandboxOptions,
} from '@toolkeel/sandbox';

const open: GithubSandbox[] = [];

/** Starts a sandbox that is closed after the test. */
export async function githubSandbox(options: GithubSandboxOptions = {}): Promise<GithubSandbox> {
  const started = await startGithubSandbox(options);
  open.push(started);
  return started;
}

export const closeGithubSandboxesAfterEach = (): void => {
  afterEach(async () => {
    await Promise.all(open.splice(0).map((started) => started.close()));
  });
};

interface Ask {
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response whose JSON the tests read without a schema. */
export interface GithubAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Readonly<Record<string, never>>;
}

/** Sends one request without retries. `path` begins below the repository if it has no leading slash. */
export async function ask(
  github: GithubSandbox,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  { body, token = github.token, headers = {} }: Ask = {},
): Promise<GithubAnswer> {
  const { owner, repo } = github.landmarks;
  const at = path.startsWith('/') ? path : `/repos/${owner}/${repo}/${path}`;
  const answer = await request(path.startsWith('http') ? path : github.url + at, {
    method,
    headers: { ...(token !== '' && { authorization: `Bearer ${token}` }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).includes('json');
  const json = (isJson && text !== '' ? JSON.parse(text) : {}) as GithubAnswer['json'];
  return { status: answer.statusCode, headers: answer.headers, text, json };
}

/** An App's JWT, signed here with node:crypto and not with the client's library. */
export function appJwt(github: GithubSandbox, at: number, lifetime = 540): string {
  const { appId, privateKey } = github.app();
  const now = Math.floor(at / 1000);
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: now - 30, exp: now + lifetime, iss: appId })}`;
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
}
