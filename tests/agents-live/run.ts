// npx tsx tests/agents-live/run.ts: installs the agents while there is a network, then runs their suite where there is only loopback. Arguments go to
// vitest.
import { fileURLToPath } from 'node:url';
import { installAgents } from './installation.ts';
import { runLoopbackOnly } from './loopback.ts';

installAgents();
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
process.exitCode = runLoopbackOnly([process.execPath, vitest, 'run', '--project', 'agents', ...process.argv.slice(2)]);
