// Which tmux this is, and whether what it pastes arrives as it was given. Versions differ: since 3.7 a paste is encoded on its way
// (control bytes become visible text), and nothing but a round trip tells what a patched or later one does.
import { randomBytes } from 'node:crypto';
import { PlaceError } from '../transport.ts';
import { type Tmux, TmuxError } from './client.ts';
import { until } from './real-time.ts';

const OLDEST = { major: 3, minor: 2 } as const;
const REMEDY = 'install tmux 3.2 or newer, or use another transport';

/** Flags of `paste-buffer`, best first. `-S` (3.7) leaves out the encoding; what is pasted holds no control bytes anyway. */
const STRATEGIES: readonly (readonly string[])[] = [
  ['-p', '-r'],
  ['-p', '-r', '-S'],
];
const PROBE_MS = 3_000;

/** The version of the program, as it says. Throws PlaceError if there is none, or it is too old. */
export async function requireVersion(tmux: Tmux): Promise<string> {
  const said = await tmux.run(['-V']).catch((error: unknown) => {
    throw error instanceof TmuxError ? new PlaceError(error.message) : error;
  });
  const version = said.trim().replace(/^tmux /, '');
  requireNewEnough(version);
  return version;
}

/** Also of a running server, which is as old as its start. Throws PlaceError. */
export function requireNewEnough(version: string): void {
  // `master` and `openbsd-7.5` carry no number of tmux: the probe has to do.
  if (/^(master|openbsd)/.test(version)) return;
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined)
    throw new PlaceError(`tmux says its version is "${version}", which is no version; ${REMEDY}`);
  const isOld = Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor);
  if (isOld)
    throw new PlaceError(`tmux ${version} is too old to be typed into safely; ${REMEDY}, and restart its server`);
}

/** The flags with which a paste arrives unchanged and bracketed. Opens a pane of its own for a moment. Throws PlaceError. */
export async function probePaste(tmux: Tmux): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const flags of STRATEGIES) {
    const arrived = await roundTrip(tmux, flags);
    if (arrived === EXPECTED) return flags;
    seen.push(`${flags.join(' ')}: ${JSON.stringify(arrived)}`);
  }
  throw new PlaceError(`this tmux changes what is pasted (${seen.join('; ')}); ${REMEDY}`);
}

const TEXT = 'round é 漢 trip;\nends ;';
/** As `cat -v` shows it, each line without its end. */
const EXPECTED = '^[[200~round M-CM-) M-fM-<M-" trip;\nends ;^[[201~';
/** Shows each byte it gets. Ends by itself if nobody is left to close it. */
const READER = `(sleep 20; kill $$) 2>/dev/null &
stty -icanon -echo -icrnl -isig -ixon; printf '\\033[?2004hREADY\\n'; LC_ALL=C exec cat -v`;

async function roundTrip(tmux: Tmux, flags: readonly string[]): Promise<string> {
  const name = `stepward-probe-${randomBytes(6).toString('hex')}`;
  const size = ['-x', '80', '-y', '10'];
  const opened = await tmux.run([
    'new-session',
    '-d',
    '-P',
    '-F',
    '#{pane_id}',
    '-s',
    name,
    ...size,
    'sh',
    '-c',
    READER,
  ]);
  const pane = opened.trim();
  const screen = async () => (await tmux.run(['capture-pane', '-p', '-J', '-t', pane])).trimEnd();
  try {
    await until(async () => (await screen()).includes('READY'), PROBE_MS);
    await tmux.run(['load-buffer', '-b', name, '-'], TEXT);
    try {
      await tmux.run(['paste-buffer', ...flags, '-d', '-b', name, '-t', pane]);
    } catch (error) {
      await tmux.run(['delete-buffer', '-b', name]).catch(() => {});
      // A flag that this version does not know.
      return error instanceof Error ? error.message : String(error);
    }
    const arrived = async () =>
      (await screen())
        .slice('READY\n'.length)
        .split('\n')
        .map((line) => line.trimEnd())
        .join('\n');
    await until(async () => /ends ;.*201/.test(await arrived()), PROBE_MS / 3);
    return await arrived();
  } finally {
    await tmux.run(['kill-pane', '-t', pane]).catch(() => {});
  }
}
