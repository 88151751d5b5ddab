// An agent that found its way to the internet would tell a stranger of the test; a missing agent would make a suite that tests nothing.
import { execFileSync } from 'node:child_process';
import { installAgents } from './installation.ts';
import { isLoopbackOnly } from './loopback.ts';

export default function setup(): void {
  if (!isLoopbackOnly()) throw new Error('this suite runs without a network: npx tsx tests/agents-live/run.ts');
  installAgents();
  execFileSync('tmux', ['-V']);
}
