import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../support/patience.js';
import { useStage } from '../support/stage.js';

const stage = useStage();

const cafe = 'Café crème à l’Étoile';

describe.concurrent('what is the same post to X was posted twice', () => {
  it.each([
    ['in NFC and in NFD', 'x_post_tweet', [{ text: cafe }, { text: cafe.normalize('NFD') }]],
    ['with blanks at its end', 'x_post_tweet', [{ text: 'hello' }, { text: 'hello \n' }]],
    [
      'with made_with_ai: false and without',
      'x_post_tweet',
      [{ text: 'hello' }, { text: 'hello', made_with_ai: false }],
    ],
    [
      'with an empty list of media and without',
      'x_post_tweet',
      [{ text: 'hello' }, { text: 'hello', media_ids: [] }],
    ],
    [
      'as a thread with empty lists of media and without',
      'x_post_thread',
      [
        { tweets: ['one', 'two'] },
        { tweets: ['one', 'two'], media_ids: [] },
        { tweets: ['one', 'two'], media_ids: [[]] },
        { tweets: ['one', 'two'], media_ids: [[], []] },
        { tweets: ['one', 'two'], media_ids: [[], [], []] },
      ],
    ],
  ])(
    '%s',
    async (_, tool, calls) => {
      const { x, server } = await stage();
      const answers = [];
      for (const args of calls) answers.push(await server.call(tool, args));
      const parts = tool === 'x_post_thread' ? 2 : 1;
      expect(x.commits({ kind: 'post.created' })).toHaveLength(parts);
      for (const answer of answers) expect(answer.data).toEqual(answers[0]?.data);
    },
    PATIENCE_MS,
  );

  it(
    'a key stands for all of its spellings, and for no other text',
    async () => {
      const { x, server } = await stage();
      const idempotency_key = 'a-key-of-sixteen-or-more';
      const post = (text: string) => server.call('x_post_tweet', { text, idempotency_key });
      const first = await post(cafe);
      expect(await post(cafe.normalize('NFD'))).toMatchObject({ data: first.data });
      expect(await post('Cafe creme')).toMatchObject({ error: { code: 'idempotency_conflict' } });
      expect(x.commits({ kind: 'post.created' })).toHaveLength(1);
    },
    PATIENCE_MS,
  );
});
