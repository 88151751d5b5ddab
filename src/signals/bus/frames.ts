// Looks at the lengths of MQTT packets as they come in. The parser behind it keeps a packet until it is whole, and would keep 256 MB
// for a stranger who has not even logged in.

/** Bytes, for a packet whole: the longest honest one is an envelope on its topic, or a state. */
export const PACKET_LIMIT = 256 * 1024;

/** Feed it the bytes of one connection in their order; false: a packet is longer than the limit, or its length is no length. */
export function createFrames(limit: number = PACKET_LIMIT): (chunk: Buffer) => boolean {
  /** Bytes of the present packet that are still to come. */
  let left = 0;
  let header = false;
  let length = 0;
  let shift = 0;

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const step = Math.min(left, chunk.length - at);
        left -= step;
        at += step;
        continue;
      }
      const byte = chunk[at++] as number;
      if (!header) {
        header = true;
        length = 0;
        shift = 0;
        continue;
      }
      length += (byte & 0x7f) * 2 ** shift;
      shift += 7;
      if (length > limit) return false;
      if ((byte & 0x80) !== 0) {
        if (shift >= 28) return false;
        continue;
      }
      header = false;
      left = length;
    }
    return true;
  };
}
