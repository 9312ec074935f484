import * as z from 'zod';

/** The tool that both servers have. */
export const echo = {
  name: 'echo',
  title: 'Echo',
  description: 'Says what it was told.',
  input: z.object({ text: z.string() }),
  output: z.object({ text: z.string() }),
};
