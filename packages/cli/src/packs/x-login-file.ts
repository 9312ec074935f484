import { join } from 'node:path';

/** Where a login at X is kept, where nobody names another place. */
export const xLoginFile = (dataDir: string): string => join(dataDir, 'x-login.json');
