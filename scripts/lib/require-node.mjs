import { leavePackagedNode } from './own-node.mjs';

// Imported first by every command, because the tools fail on older Node with unclear errors.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;

if (!supported) {
  process.stderr.write(
    `Toolkeel needs Node.js 20.19 or newer (on the 22 line: 22.12 or newer). This is ${process.version}.\n`,
  );
  process.exit(1);
}

leavePackagedNode();
