// npm run bench: measures, prints, and writes docs/performance.md. Ratios against a peer in the same run; no test asserts a time.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { build } from '../build.mjs';
import { measureBus } from './bus.ts';
import { measureEmit } from './emit.ts';
import { measureHost } from './host.ts';
import { measureKernel } from './kernel.ts';
import { measureLatency } from './latency.ts';
import { type Finding, machine } from './stats.ts';

await build();
const load = loadavg()[0] ?? 0;
const MEASURES = {
  emit: measureEmit,
  kernel: measureKernel,
  latency: measureLatency,
  bus: measureBus,
  host: measureHost,
};
const findings: Finding[] = [];
for (const [name, measure] of Object.entries(MEASURES)) {
  process.stderr.write(`measuring ${name}\n`);
  findings.push(...(await measure()));
}
const table = findings.map(({ what, ours, peer, ratio, aim }) => `| ${what} | ${ours} | ${peer} | ${ratio} | ${aim} |`);
const page = `# Performance

Written by \`npm run bench\`: each figure stands beside a peer measured in the same run, on a machine that other work shares.
Compare the ratios, not the milliseconds.

${machine()}, load ${load.toFixed(1)} at the start.

| what | Stepward | peer | ratio | aim |
|---|---|---|---|---|
${table.join('\n')}

- Emit: the process start is all of the peer. Of ours, loading the SQLite driver and one committed round trip through a live driver
  are most of the rest. NODE_EXTRA_CA_CERTS is unset for both.
- Kernel: the peer reads a row, compare-and-sets it and writes one log row of the same size, in raw SQL on the same SQLite. Ours also
  restores the machine, decides (XState), and writes timers, outbox and projections.
- The bus: on loopback, so without the network round trips that made the original's one-shot client 6.9 times slower. \`emit\` by the bus
  is a process start plus the loading of an MQTT client, and waits for the driver's decision; mosquitto_pub waits for neither.
- 200 jobs at once in one driver: \`npm run test:faults\` prints memory and open files of that run.
`;
writeFileSync(new URL('../docs/performance.md', import.meta.url), page);
process.stdout.write(page);
