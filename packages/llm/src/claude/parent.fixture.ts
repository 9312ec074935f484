import { Child } from './children.js';

/** Starts the program that the argument names, and prints its process id once it runs. */
const [, , program = ''] = process.argv;
const child = new Child({ command: process.execPath, args: [program], env: {} });
child.stdout.once('data', () => process.stdout.write(String(child.process.pid)));
