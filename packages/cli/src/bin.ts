#!/usr/bin/env node
import { run } from './run.js';
import { processSurroundings } from './surroundings.js';

process.exitCode = await run(process.argv.slice(2), processSurroundings());
