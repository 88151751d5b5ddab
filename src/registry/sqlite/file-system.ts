// WAL needs memory that all processes share, which no network file system gives: two machines would each believe they hold the
// lock, and both would write.
import { RegistryError } from '../errors.ts';

/** Linux's f_type, from statfs(2) and linux/magic.h. FUSE is not here: it is as often a local disk as a remote one. */
const NETWORK_TYPES: Readonly<Record<number, string>> = Object.freeze({
  26985: 'NFS',
  4283649346: 'CIFS',
  4266872130: 'SMB 2',
  20859: 'SMB',
  16914839: '9p',
  1397113167: 'AFS',
  1799439955: 'AFS',
  1937076805: 'Coda',
  22092: 'NCP',
  12805120: 'Ceph',
  198183888: 'Lustre',
  18225520: 'GFS2',
  1952539503: 'OCFS2',
  1196443219: 'GPFS',
  428016422: 'BeeGFS',
  2020557398: 'vboxsf',
});

/**
 * @param found what statfs says of the registry's directory. Other systems than Linux number their types differently and are
 *   not judged.
 * @throws RegistryError `network_fs`, with the way out.
 */
export function refuseNetworkFs(dir: string, found: { type: number }, platform: string = process.platform): void {
  if (platform !== 'linux') return;
  // Some builds give the type as a signed 32-bit number.
  const name = NETWORK_TYPES[found.type >>> 0];
  if (name === undefined) return;
  throw new RegistryError(
    'network_fs',
    `The registry's directory ${dir} is on a network file system (${name}), where SQLite cannot keep several processes apart. Put it on a local disk, or use a PostgreSQL registry, which is made for several machines.`,
  );
}
