// Loaded into a server before its own code, so that a test can kill it.
import { writeFileSync } from 'node:fs';

writeFileSync(process.env['TEST_PID_FILE'], String(process.pid));
