#!/usr/bin/env node
// What `stepward` starts. A CommonJS file on purpose: what an agent runs for every event (`emit`) would pay a third of its time for
// Node's loader of ES modules. Everything else goes on in main.ts.
import type { emitMain as EmitMain } from './emit.ts';
import { endWith } from './end-with.ts';

const [command, ...rest] = process.argv.slice(2);

if (command === 'emit') {
  const { emitMain } = require('./emit.cjs') as { emitMain: typeof EmitMain };
  endWith(emitMain(rest));
} else {
  import('./main.ts').catch((error: unknown) => endWith(Promise.reject(error)));
}
