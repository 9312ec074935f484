import type { Tool } from '@toolkeel/contract';
import type { Client } from '../api/client.js';
import { aboutTools } from './about.js';
import { engageTools } from './engage.js';
import { postTools } from './posts.js';
import { readTools } from './read.js';
import { workflowTools } from './workflow.js';
import { uploadMedia } from './upload-media.js';
import { contentTools } from '../workflow/content.js';
import { contextTools } from '../workflow/context.js';
import { discoveryTools } from '../workflow/discovery.js';
import { replyTools } from '../workflow/replies.js';

export function createTools(client: Client): readonly Tool[] {
  const tools: readonly unknown[] = [
    ...readTools(client),
    ...postTools(client),
    ...engageTools(client),
    uploadMedia(client),
    ...aboutTools(client),
    ...discoveryTools(client),
    ...contextTools(client),
    ...contentTools(client),
    ...replyTools(client),
    ...workflowTools(client),
  ];
  return tools as readonly Tool[];
}
