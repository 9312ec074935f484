import type { Finding } from './finding.js';

const OLDEST = [20, 19] as const;

/** Whether this Node.js is new enough. */
export function examineNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const what = 'Node.js';
  if (isEnough) return { status: 'ok', what, detail: version };
  const advice = `Install Node.js ${OLDEST.join('.')} or newer.`;
  return { status: 'fail', what, detail: `${version} is too old`, advice };
}
