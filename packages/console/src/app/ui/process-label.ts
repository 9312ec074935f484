import { live } from '../data/stream.js';

interface OfProcess {
  readonly process_id?: string;
  readonly process_name?: string;
}

/** Tells processes of one name apart: `toolkeel · stdio 4711`. A process that is forgotten has its name only. */
export function processLabel({ process_id, process_name }: OfProcess): string {
  const process = live.value?.processes.find(({ id }) => id === process_id);
  if (!process) return process_name ?? '–';
  return `${process.name} · ${process.transport} ${process.pid}`;
}
