// The captured screens (fixtures/screens), with what each truly was.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Screen, ScreenState } from '../../../src/transports/sight.ts';

export interface Captured extends Screen {
  name: string;
  agent: string;
  version: string;
  date: string;
  size: string;
  state: ScreenState;
  observed: boolean;
}

const root = fileURLToPath(new URL('../../../fixtures/screens', import.meta.url));

export const captured = (kind: string): Captured[] =>
  readdirSync(join(root, kind))
    .sort()
    .map((file) => ({
      ...(JSON.parse(readFileSync(join(root, kind, file), 'utf8')) as Omit<Captured, 'name'>),
      name: file.replace(/\.json$/, ''),
    }));
