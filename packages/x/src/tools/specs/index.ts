import type { ToolSpec } from '@toolkeel/contract';
import * as assist from '../../workflow/assist-specs.js';
import * as about from './about.js';
import * as reads from './read.js';
import * as workflow from './workflow.js';
import * as writes from './write.js';

/** The tool specifications, without the code that runs the tools. */
export const specs: readonly ToolSpec[] = Object.values({
  ...reads,
  ...writes,
  ...about,
  ...assist,
  ...workflow,
}) as readonly unknown[] as readonly ToolSpec[];
