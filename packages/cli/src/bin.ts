#!/usr/bin/env node
import { run } from './run.js';
import { processRuntime } from './runtime.js';

/** How long a client has to read the rest of the output. */
const UNREAD_OUTPUT_MS = 1000;

// Pending writes to a pipe keep the process alive; without them it exits before the timer fires.
const discardOutput = (): void => void setTimeout(() => process.exit(), UNREAD_OUTPUT_MS).unref();

process.exitCode = await run(process.argv.slice(2), { ...processRuntime(), discardOutput });
