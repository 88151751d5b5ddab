// What may be shown of a broker's URL; apart from the client, so that checking a setting loads no MQTT.

/**
 * Messages must not show what somebody put into a URL. A password may hold `/` and `@`, however wrong that is in a URL, so of a
 * text with an `@` only the scheme and what follows the last one is shown.
 */
export function withoutLogin(url: string): string {
  const at = url.lastIndexOf('@');
  if (at < 0) return url;
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url) ?? [];
  return `${scheme}…${url.slice(at)}`;
}
