/** How a client connects: it starts a process or uses an address. */
export type Reach =
  | { readonly command: string; readonly args: readonly string[] }
  | {
      readonly url: string;
      /** The Authorization header as a shell expression, without the secret itself. */
      readonly authorization?: string;
    };

export interface Snippet {
  readonly client: string;
  /** The file or place for the text. */
  readonly where: string;
  readonly text: string;
}

const NAME = 'toolkeel';

/** The settings of common clients. */
export function snippetsFor(reach: Reach): readonly Snippet[] {
  return [claudeCode(reach), claudeDesktop(reach), cursor(reach), vsCode(reach)].flat();
}

function claudeCode(reach: Reach): Snippet {
  const add = 'claude mcp add';
  const text =
    'url' in reach
      ? `${add} --transport http ${NAME} ${reach.url}${headerFlag(reach.authorization)}`
      : `${add} ${NAME} -- ${[reach.command, ...reach.args].map(shellWord).join(' ')}`;
  return { client: 'Claude Code', where: 'in a terminal', text };
}

/** Its file supports only processes; an address is entered in its settings and must be public. */
function claudeDesktop(reach: Reach): readonly Snippet[] {
  if ('url' in reach) return [];
  return [
    {
      client: 'Claude Desktop',
      where: 'claude_desktop_config.json (Settings, Developer, Edit Config)',
      text: json({ mcpServers: { [NAME]: plain(reach) } }),
    },
  ];
}

function cursor(reach: Reach): Snippet {
  return {
    client: 'Cursor',
    where: '.cursor/mcp.json of a project, or ~/.cursor/mcp.json',
    text: json({ mcpServers: { [NAME]: plain(reach) } }),
  };
}

function vsCode(reach: Reach): Snippet {
  const type = 'url' in reach ? 'http' : 'stdio';
  return {
    client: 'VS Code',
    where: '.vscode/mcp.json',
    text: json({ servers: { [NAME]: { type, ...plain(reach) } } }),
  };
}

function plain(reach: Reach): object {
  if (!('url' in reach)) return reach;
  const headers = { Authorization: 'Bearer YOUR_TOKEN' };
  return { url: reach.url, ...(reach.authorization !== undefined && { headers }) };
}

function headerFlag(authorization: string | undefined): string {
  return authorization === undefined ? '' : ` --header "Authorization: ${authorization}"`;
}

function json(value: object): string {
  return JSON.stringify(value, null, 2);
}

/** Quotes a word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
