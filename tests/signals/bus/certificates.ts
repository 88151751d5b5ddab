// Certificates for one run, by openssl: an authority, a server for this machine, a client, and servers that are not to be believed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export interface Pair {
  cert: string;
  key: string;
}

export interface Certificates {
  ca: string;
  server: Pair;
}

export interface AllCertificates extends Certificates {
  client: Pair;
  expired: Pair;
  otherName: Pair;
  /** Of an authority that nobody knows. */
  stranger: Certificates;
}

/** Removed when the file's tests are over. */
export function makeCertificates(): AllCertificates {
  const dir = mkdtempSync(join(tmpdir(), 'stepward-certs-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const here = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const ca = authority(dir, 'ca');
  const other = authority(dir, 'other');
  return {
    ca: ca.cert,
    server: issue(dir, 'server', ca, here),
    client: issue(dir, 'client', ca, 'extendedKeyUsage=clientAuth'),
    expired: issue(dir, 'expired', ca, here, -1),
    otherName: issue(dir, 'elsewhere', ca, 'subjectAltName=DNS:broker.example'),
    stranger: { ca: other.cert, server: issue(dir, 'stranger', other, here) },
  };
}

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const files = (dir: string, name: string): Pair => ({ cert: join(dir, `${name}.crt`), key: join(dir, `${name}.key`) });

function authority(dir: string, name: string): Pair {
  const { cert, key } = files(dir, name);
  openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, '-days', '30', '-subj', `/CN=${name}`);
  return { cert, key };
}

function issue(dir: string, name: string, by: Pair, extension: string, days = 30): Pair {
  const { cert, key } = files(dir, name);
  const [request, extensions] = [join(dir, `${name}.csr`), join(dir, `${name}.ext`)];
  writeFileSync(extensions, `${extension}\n`);
  openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
  const signed = ['-CA', by.cert, '-CAkey', by.key, '-CAcreateserial', '-extfile', extensions];
  openssl('x509', '-req', '-in', request, ...signed, '-out', cert, '-days', String(days));
  return { cert, key };
}
