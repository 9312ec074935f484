import * as z from 'zod';

/** The tool of both servers. */
export const echo = {
  name: 'echo',
  title: 'Echo',
  description: 'Returns its input.',
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
};
