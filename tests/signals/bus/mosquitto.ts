// A real Mosquitto (Debian: mosquitto, mosquitto-clients) of our own: a child process with a configuration in a temp directory, on a
// port that the system chose, ended by its recorded pid.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { freePort, listens } from '../../support/ports.ts';
import { tempDirectory, until } from '../world.ts';
import type { Certificates } from './certificates.ts';

const run = promisify(execFile);

export interface MosquittoOptions {
  tls?: Certificates & { askClient?: boolean };
  /** Name → password; none: anonymous. */
  users?: Record<string, string>;
  acl?: string;
  persistence?: boolean;
}

export interface Mosquitto {
  port: number;
  url: string;
  /** The same broker, without TLS. */
  socket: string;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
  /** On the same port, with what it kept. */
  start(): Promise<void>;
  /** Other rules for its users, taken over while it runs. */
  mend(acl: string): Promise<void>;
}

export async function startMosquitto(options: MosquittoOptions = {}): Promise<Mosquitto> {
  const { tls, users, acl, persistence = false } = options;
  const dir = await tempDirectory();
  const port = await freePort();
  const socket = join(dir, 'broker.sock');
  const lines = [`listener 0 ${socket}`, `listener ${port} 127.0.0.1`, 'set_tcp_nodelay true'];
  // Started by root it would become another user, who may not read our temp directory.
  if (process.getuid?.() === 0) lines.push('user root');
  lines.push(`allow_anonymous ${users === undefined && !tls?.askClient}`);
  if (users) {
    const file = join(dir, 'passwords');
    await writeFile(file, '', { mode: 0o600 });
    for (const [name, password] of Object.entries(users)) await run('mosquitto_passwd', ['-b', file, name, password]);
    lines.push(`password_file ${file}`);
  }
  if (acl) {
    await writeFile(join(dir, 'acl'), acl, { mode: 0o600 });
    lines.push(`acl_file ${join(dir, 'acl')}`);
  }
  if (tls) {
    lines.push(`cafile ${tls.ca}`, `certfile ${tls.server.cert}`, `keyfile ${tls.server.key}`);
    if (tls.askClient) lines.push('require_certificate true', 'use_identity_as_username true');
  }
  lines.push(`persistence ${persistence}`);
  if (persistence) lines.push(`persistence_location ${dir}/`, 'autosave_on_changes true', 'autosave_interval 1');
  const config = join(dir, 'mosquitto.conf');
  await writeFile(config, `${lines.join('\n')}\n`);

  let child: ChildProcess | null = null;
  const kill = async () => {
    const running = child;
    child = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  };
  const start = async () => {
    const started = spawn('mosquitto', ['-c', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    child = started;
    let said = '';
    started.stderr.on('data', (chunk) => {
      said += chunk;
    });
    let failed: Error | null = null;
    started.on('error', (error) => {
      failed = new Error(`these tests need Mosquitto (apt-get install mosquitto mosquitto-clients): ${error.message}`);
    });
    await until(async () => {
      if (failed) throw failed;
      if (started.exitCode !== null) throw new Error(`mosquitto ended: ${said}`);
      return listens(port);
    });
  };
  const mend = async (rules: string) => {
    await writeFile(join(dir, 'acl'), rules, { mode: 0o600 });
    child?.kill('SIGHUP');
  };
  onTestFinished(kill);
  await start();
  return { port, url: `${tls ? 'mqtts' : 'mqtt'}://127.0.0.1:${port}`, socket, kill, start, mend };
}
