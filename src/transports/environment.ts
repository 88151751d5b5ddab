// What a started agent inherits. An allow-list: what is not known to be harmless stays out, so that neither the terminal the
// driver runs in (HERDR_*, TMUX) nor another agent around it (CLAUDECODE, CODEX_*) speaks through its environment.

/**
 * SSH_AUTH_SOCK is not among them: an agent that nobody watches does not sign in to other machines as this person, unless the
 * caller names the variable. XDG_* only says where files are.
 */
const NAMES: ReadonlySet<string> = new Set([
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'PATH',
  'LANG',
  'TZ',
  'TMPDIR',
  'TERM',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]);
const PREFIXES = ['LC_', 'XDG_'];

/** The environment of a child: the allowed part of the parent's, then `extra`, which wins. */
export function childEnvironment(parent: NodeJS.ProcessEnv, extra: Record<string, string>): Record<string, string> {
  const allowed = Object.entries(parent).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isAllowed(entry[0]),
  );
  return { ...Object.fromEntries(allowed), ...extra };
}

const isAllowed = (name: string): boolean => NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix));
