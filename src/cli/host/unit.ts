// Units that keep a host running: systemd for a user, launchd for a user. Written for one registry, with absolute paths, since
// neither of them has a shell's PATH.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { quote } from '../../transports/quote.ts';
import { UsageError } from '../errors.ts';

export const UNITS = Object.freeze(['systemd', 'launchd'] as const);
export type UnitKind = (typeof UNITS)[number];

export interface UnitPlace {
  /** All absolute: this Node, the script of this build, the project, the registry. */
  node: string;
  entry: string;
  project: string;
  registry: string;
}

/** Seconds between two starts. Also after "another host runs already": the one that `--detach` has started ends by itself. */
const AGAIN_S = 30;
/** A host ends within 10 s. */
const STOP_S = 15;

/** Throws UsageError: a path that no unit can name. */
export function unitText(kind: UnitKind, place: UnitPlace): string {
  for (const path of Object.values(place)) requireNameable(path);
  return kind === 'systemd' ? systemd(place) : launchd(place);
}

/** Of a project, unique among projects of one name: `stepward-app-3f2a91c0`. */
export function unitName({ project, registry }: UnitPlace): string {
  const word =
    basename(project)
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '') || 'project';
  return `stepward-${word}-${createHash('sha256').update(registry).digest('hex').slice(0, 8)}`;
}

function requireNameable(path: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line break in a path would be another line of the unit.
  if (!/[\u0000-\u001f\u007f]/.test(path)) return;
  const allowed = 'paths without control characters';
  throw new UsageError({ option: '--print-unit', value: path, problem: 'cannot be named in a unit', allowed });
}

const wordsOf = ({ node, entry, registry }: UnitPlace): string[] => [
  node,
  entry,
  'host',
  '--registry',
  registry,
  '--json',
];

function systemd(place: UnitPlace): string {
  const { project } = place;
  const name = unitName(place);
  const file = `~/.config/systemd/user/${name}.service`;
  const [program = '', ...args] = wordsOf(place);
  return `# ${name}.service: the Stepward host of one project. To install it, in that project:
#   mkdir -p ~/.config/systemd/user && stepward host --print-unit systemd > ${file}
#   systemctl --user daemon-reload && systemctl --user enable --now ${name}.service
# To let it run while you are not logged in: loginctl enable-linger
# Its log: journalctl --user -u ${name}

[Unit]
Description=Stepward host of ${percent(project)}
# Tried again for ever: a registry on a disk that is full, or a host that --detach has started, is gone some time later.
StartLimitIntervalSec=0

[Service]
WorkingDirectory=${directory(project)}
ExecStart=${[inQuotes(program), ...args.map((word) => inQuotes(word).replaceAll('$', '$$$$'))].join(' ')}
Restart=on-failure
RestartSec=${AGAIN_S}
# Bad input is not mended by trying again.
RestartPreventExitStatus=64
# The default would kill the agents with the host; they go on, and the next driver takes over.
KillMode=process
TimeoutStopSec=${STOP_S}

[Install]
WantedBy=default.target
`;
}

/** Specifiers: %h is a home directory. */
const percent = (text: string): string => text.replaceAll('%', '%%');

/** systemd.service(5): C-like escapes inside double quotes. `$` is one more, but not in the program's own path. */
const inQuotes = (word: string): string => `"${percent(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** Not a word but the rest of the line: no quotes. A backslash at the end would join the next line to it. */
const directory = (path: string): string => percent(path.endsWith('\\') ? `${path}/` : path);

function launchd(place: UnitPlace): string {
  const name = unitName(place);
  const file = join(homedir(), 'Library/LaunchAgents', `${name}.plist`);
  const log = join(place.registry, 'host.log');
  // No two dashes may stand together in a comment of XML, so the commands are told without options.
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- The Stepward host of one project. To install it: save this text as
     ${comment(file)}
     launchctl bootstrap gui/$(id -u) ${comment(quote(file))}
     Its log: ${comment(log)} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${xml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${wordsOf(place)
  .map((word) => `    <string>${xml(word)}</string>`)
  .join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(place.project)}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${AGAIN_S}</integer>
  <key>ExitTimeOut</key>
  <integer>${STOP_S}</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardErrorPath</key>
  <string>${xml(log)}</string>
</dict>
</plist>
`;
}

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const comment = (text: string): string => text.replaceAll('--', '- -');
