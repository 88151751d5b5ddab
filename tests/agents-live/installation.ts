// The real agents, from npm, at the versions that were measured. Installed once a machine: they are a gigabyte together.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const VERSIONS = Object.freeze({ claude: '2.1.197', codex: '0.171.0', opencode: '1.18.33' });
export type LiveKind = keyof typeof VERSIONS;
export const LIVE_KINDS = Object.freeze(Object.keys(VERSIONS)) as readonly LiveKind[];

const PACKAGES = {
  claude: '@anthropic-ai/claude-code',
  codex: '@openai/codex',
  opencode: 'opencode-ai',
} satisfies Record<LiveKind, string>;

const cache = join(
  tmpdir(),
  `stepward-agents-${LIVE_KINDS.map((kind) => VERSIONS[kind]).join('-')}-${process.platform}-${process.arch}`,
);

/** Where the programs lie. Throws what npm says. */
export function installAgents(): string {
  const bin = join(cache, 'node_modules', '.bin');
  if (existsSync(bin)) return bin;
  // Made aside and renamed: a run that was stopped half-way must not leave something that looks installed.
  const aside = mkdtempSync(`${cache}.`);
  try {
    writeFileSync(join(aside, 'package.json'), '{"private":true}');
    const wanted = LIVE_KINDS.map((kind) => `${PACKAGES[kind]}@${VERSIONS[kind]}`);
    const options = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
    mkdirSync(aside, { recursive: true });
    execFileSync('npm', ['install', ...options, ...wanted], { cwd: aside, stdio: ['ignore', 'ignore', 'inherit'] });
    for (const kind of LIVE_KINDS) {
      const said = execFileSync(join(aside, 'node_modules', '.bin', kind), ['--version'], {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: aside },
      });
      if (!said.includes(VERSIONS[kind])) throw new Error(`${kind} ${VERSIONS[kind]} was asked for, and it is ${said}`);
    }
    if (!existsSync(bin)) renameSync(aside, cache);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  return bin;
}
