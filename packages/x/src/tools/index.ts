import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { aboutTools } from './about.js';
import { engageTools } from './engage.js';
import { postTools } from './posts.js';
import { readTools } from './read.js';
import { workflowTools } from './workflow.js';
import { uploadMedia } from './upload-media.js';

export function createTools(client: Client): readonly Tool[] {
  const tools: readonly unknown[] = [
    ...readTools(client),
    ...postTools(client),
    ...engageTools(client),
    uploadMedia(client),
    ...aboutTools(client),
    ...workflowTools(client),
  ];
  return tools as readonly Tool[];
}
