// A network namespace that has nothing but loopback: an agent that calls home in spite of its settings reaches nobody.
import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

/** Of util-linux. */
const UNSHARE = 'unshare';

export const isLoopbackOnly = (): boolean => Object.keys(networkInterfaces()).every((name) => name === 'lo');

/** Runs a command line in such a namespace and gives its exit code. Root needs no user namespace, others do. */
export function runLoopbackOnly(argv: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const asRoot = process.getuid?.() === 0;
  const options = asRoot ? ['--net'] : ['--net', '--user', '--map-root-user'];
  const script = 'ip link set lo up && exec "$@"';
  const { status, error } = spawnSync(UNSHARE, [...options, 'sh', '-c', script, 'sh', ...argv], {
    stdio: 'inherit',
    env,
  });
  if (error) throw error;
  return status ?? 1;
}
