// Percentiles, and the machine's name for the page.
import { cpus, totalmem } from 'node:os';

export const percentile = (samples: readonly number[], p: number): number => {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
};

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const times = (value: number): string => `${value.toFixed(2)} ×`;

export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;

export interface Finding {
  what: string;
  ours: string;
  peer: string;
  ratio: string;
  aim: string;
}
