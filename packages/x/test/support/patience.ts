/** For tests with servers, journals on a disk and processes, where others use the machine too. */
export const PATIENCE_MS = 60_000;
