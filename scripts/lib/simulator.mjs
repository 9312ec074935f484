import { existsSync } from 'node:fs';
import { inRoot } from './paths.mjs';
import { node, show } from './run.mjs';

/** @param {string[]} args */
export const simulate = async (args) => {
  const script = inRoot('packages', 'drill', 'dist', 'simulate.js');
  if (!existsSync(script))
    throw new Error('There is no simulator in this version yet: nothing to run.');
  return show(node([script, ...args]));
};
