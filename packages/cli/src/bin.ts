#!/usr/bin/env node
import { Command } from 'commander';
import type { ServeOptions } from './commands/serve.js';

const program = new Command('toolkeel');
program
  .command('serve')
  .description('Serves MCP on stdin and stdout.')
  .argument('[pack...]')
  .option('--profile <name>')
  .option('--config <file>')
  .option('--sandbox')
  .action(async (packs: string[], options: ServeOptions) => {
    const { serve } = await import('./commands/serve.js');
    await serve(packs, options);
  });
await program.parseAsync();
