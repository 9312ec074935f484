import type { OperationView } from '@toolkeel/journal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeRuntime } from '../runtime.fixture.js';
import {
  decisiveArgument,
  escapeControls,
  facts,
  localTime,
  operationText,
  table,
} from './format.js';

const around = fakeRuntime();

describe('formatted output', () => {
  it('aligns the columns of a table', () => {
    const rows = [
      ['op_1', 'a', ''],
      ['op_22', 'bcd', 'x'],
    ];
    expect(table(['ID', 'TOOL', 'END'], rows, around)).toBe(
      'ID     TOOL  END\nop_1   a\nop_22  bcd   x\n',
    );
  });

  it('aligns names and values, and skips undefined ones', () => {
    const pairs = [
      ['tool', 'x'],
      ['arguments', '{\n}'],
      ['cost', undefined],
    ] as const;
    expect(facts(pairs)).toBe('tool       x\narguments  {\n           }\n');
  });

  it('escapes control characters', () => {
    const rows = [['\u001B[2J', 'a\nb', '\u202Egpj']];
    expect(table(['A', 'B', 'C'], rows, around)).toBe(
      'A          B    C\n\\u001b[2J  a b  \\u202egpj\n',
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(escapeControls(text).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});

const approval = {
  rule: 'links',
  explanation: 'The rule "links" requires approval of this call: args.text has a link.',
  hash: 'h1',
  requested_at: '2026-03-01T11:00:00.000Z',
  expires_at: '2026-03-01T12:00:00.000Z',
  edited: false,
};
const operation: OperationView = {
  id: 'op_1',
  tool: 'x_post_tweet',
  account: 'main',
  effect: 'once',
  state: 'awaiting_approval',
  key: 'k',
  correlation_id: 'c',
  created_at: '2026-03-01T11:00:00.000Z',
  arguments: { media_ids: ['1'], text: 'see a.test' },
  steps: [],
  approval,
};

describe('an operation that awaits approval', () => {
  it('shows its arguments, then its record in local time', () => {
    const text = operationText(operation);
    expect(text).toMatch(/^x_post_tweet\n\{\n {2}"media_ids"[\s\S]*\}\n\noperation +op_1\n/);
    expect(text).toContain(`expires    ${localTime(approval.expires_at)}\n`);
    expect(text).not.toContain('edited');
  });

  it('shows the editor and each changed argument', () => {
    const edited = {
      ...approval,
      edited: true,
      edited_by: 'ana',
      edited_at: '2026-03-01T11:30:00.000Z',
      requested_arguments: { text: 'see b.test', poll: true },
    };
    const text = operationText({ ...operation, approval: edited });
    expect(text).toContain(
      [
        `edited by ana, ${localTime(edited.edited_at)}: these are not the arguments of the agent`,
        '- text: "see b.test"',
        '+ text: "see a.test"',
        '- poll: true',
        '+ media_ids: ["1"]',
        '',
        'operation',
      ].join('\n'),
    );
  });
});

describe('decisiveArgument', () => {
  const args = { flag: true, text: 'hello', id: '7' };
  it.each([
    ['in the explanation', approval, [], 'text: "hello"'],
    ['that is required', { ...approval, explanation: 'Ask.' }, ['id'], 'id: "7"'],
    ['of the call', { ...approval, explanation: 'Ask.' }, [], 'flag: true'],
  ])('is the first argument %s', (_, given, required, shown) => {
    expect(decisiveArgument({ ...operation, arguments: args, approval: given }, required)).toBe(
      shown,
    );
  });

  it('is truncated', () => {
    const long = { ...operation, arguments: { text: 'x'.repeat(300) } };
    expect(decisiveArgument(long)).toMatch(/^text: "x{47}…$/);
  });
});

it('localTime includes the time zone', () => {
  const at = '2026-03-01T12:05:09.000Z';
  expect(localTime(at, 'Europe/Rome')).toMatch(/^2026-03-01 13:05:09 (CET|GMT\+1)$/);
  expect(localTime(at, 'UTC')).toBe('2026-03-01 12:05:09 UTC');
  expect(localTime(at)).toMatch(/^2026-03-0[12] \d\d:\d5:09 \S+$/);
});
