/** The parts of a Markdown page that are checked. */
export interface Page {
  readonly blocks: readonly Block[];
  /** Inline code, and every line of a shell block. */
  readonly snippets: readonly Located[];
  readonly links: readonly Located[];
  readonly headings: readonly Heading[];
}

export interface Located {
  readonly line: number;
  readonly text: string;
}

/** A fenced block. `info` follows the fence: the language and our own markers. */
export interface Block extends Located {
  readonly info: string;
}

interface Heading extends Located {
  readonly level: number;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(.*)$/;
const SHELL = /^(sh|bash|shell|console)\b/;

export const readPage = (text: string): Page => {
  const blocks: Block[] = [];
  const snippets: Located[] = [];
  const links: Located[] = [];
  const headings: Heading[] = [];

  let open: { fence: string; info: string; line: number; body: string[] } | undefined;
  for (const [index, row] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    const [, fence, info = ''] = FENCE.exec(row) ?? [];
    if (open) {
      if (fence?.startsWith(open.fence) && info === '') {
        blocks.push({ line: open.line, info: open.info, text: open.body.join('\n') });
        open = undefined;
      } else {
        open.body.push(row);
        if (SHELL.test(open.info)) snippets.push({ line, text: row });
      }
      continue;
    }
    if (fence) {
      open = { fence, info: info.trim(), line, body: [] };
      continue;
    }
    const [, marks, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(row) ?? [];
    if (marks && title) headings.push({ line, level: marks.length, text: title });
    for (const [, code = ''] of row.matchAll(/`([^`]+)`/g)) snippets.push({ line, text: code });
    const prose = row.replaceAll(/`[^`]*`/g, '``');
    for (const [, target = ''] of prose.matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)/g))
      links.push({ line, text: target });
    const [, reference] = /^\[[^\]]+\]:\s*(\S+)/.exec(row) ?? [];
    if (reference) links.push({ line, text: reference });
  }
  if (open) throw new Error(`the code block of line ${open.line} is never closed`);
  return { blocks, snippets, links, headings };
};

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a page: runs of lines that begin with a pipe. Cells contain no escaped pipes. */
export const tablesIn = (text: string): Table[] =>
  (text.match(/(?:^\|.*\n?)+/gm) ?? []).map((run) => {
    const [head = [], , ...rows] = run.trim().split('\n').map(cellsOf);
    return { head, rows };
  });

const cellsOf = (row: string): string[] =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** The anchor of a heading, as code hosts generate it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
