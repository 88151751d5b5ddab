// Where a pid means something: one machine, one boot, one pid namespace. Pids of two containers or two hosts cannot be compared.
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface Host {
  machine: string;
  boot: string;
  /** The pid namespace; `-` where the system has none. */
  pids: string;
}

const SEPARATOR = ':';
let own: string | undefined;

/** `machine:boot:pidns` of this process. A part that cannot be read is empty, and an empty part proves nothing. */
export function hostIdentity(): string {
  own ??= [machine(), boot(), pidNamespace()].map((part) => part.replaceAll(SEPARATOR, '_')).join(SEPARATOR);
  return own;
}

export function parseHost(identity: string): Host {
  const [machine = '', boot = '', pids = ''] = identity.split(SEPARATOR);
  return { machine, boot, pids };
}

/** The name too: containers made of one image share the machine id. */
const machine = (): string => `${hostname()}/${read('/etc/machine-id') || read('/var/lib/dbus/machine-id')}`;

function boot(): string {
  if (process.platform === 'linux') return read('/proc/sys/kernel/random/boot_id');
  try {
    const options: ExecFileSyncOptionsWithStringEncoding = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
    return execFileSync('/usr/sbin/sysctl', ['-n', 'kern.bootsessionuuid'], options).trim();
  } catch {
    return '';
  }
}

function pidNamespace(): string {
  if (process.platform !== 'linux') return '-';
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
