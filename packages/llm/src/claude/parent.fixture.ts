import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './children.js';
import { guardFolder, releaseFolder } from './watchdog.js';

/**
 * Starts the program that the first argument names, and prints its process id once it runs. Guards folders in
 * the second one: two stay guarded, the one between them is released.
 */
const [, , program = '', parent = ''] = process.argv;
const folders = ['first', 'released', 'last'].map((name) => mkdtempSync(join(parent, `${name} `)));
for (const folder of folders) guardFolder(folder);
releaseFolder(folders[1] ?? '');
const child = new Child({ command: process.execPath, args: [program], env: {} });
child.stdout.once('data', () => process.stdout.write(String(child.process.pid)));
