import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/**
 * Ends the process groups and removes the temporary folders that are left when this process is killed: a
 * killed process can clean up nothing itself, and a child may ignore that its input has ended. The shell
 * reads them from a pipe that only this process holds, so the end of the pipe is the end of this process.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
set --
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
    folder) set -- "$@" "$group" ;;
    removed) for folder do shift; [ "$folder" = "$group" ] || set -- "$@" "$folder"; done ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
[ "$groups" = ' ' ] || sleep 2
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
[ $# = 0 ] || rm -rf -- "$@"
`;

let watchdog: ChildProcess | undefined;

/** Ends the group of this leader when this process is killed. Windows has no process groups. */
export function guardGroup(leader: number | undefined): void {
  if (leader !== undefined && process.platform !== 'win32') tell(`+ ${leader}`);
}

/** The leader has exited; another process may get its id. */
export function releaseGroup(leader: number | undefined): void {
  if (leader !== undefined && watchdog) tell(`- ${leader}`);
}

/** Removes this folder when this process is killed. */
export function guardFolder(folder: string): void {
  if (isTellable(folder)) tell(`folder ${folder}`);
}

/** The folder has been removed. */
export function releaseFolder(folder: string): void {
  if (isTellable(folder) && watchdog) tell(`removed ${folder}`);
}

/** Windows has no shell of this kind, and a line must stay a line. */
const isTellable = (folder: string): boolean =>
  process.platform !== 'win32' && !folder.includes('\n');

function tell(change: string): void {
  watchdog ??= start();
  watchdog.stdin?.write(`${change}\n`);
}

function start(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A group of its own: what a terminal sends to this process must not end the watchdog.
    detached: true,
    env: {},
  });
  // It must not keep this process alive. If it cannot run, a kill of this process may leave children behind.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as Writable & { unref?: () => void }).unref?.();
  return child;
}
