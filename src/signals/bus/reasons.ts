// What an MQTT client meets, as one of our few codes and a sentence that names the broker and what to do. Never the password.
import { BusError, type BusErrorCode } from './types.ts';

/** What mqtt.js and Node throw: `code` is a reason code of MQTT, or the name of a system or TLS error. */
export interface Failure {
  code?: number | string | undefined;
  message: string;
}

/** What of the connection stood when it failed. */
export interface Stage {
  url: string;
  protocol: 4 | 5;
  /** Bytes came from the other side. */
  heard: boolean;
  /** TLS was agreed on. */
  secured: boolean;
}

const UNREACHABLE: Readonly<Record<string, string>> = Object.freeze({
  ECONNREFUSED: 'nothing listens there; start the broker or correct the port',
  ENOTFOUND: 'no such host name; correct it',
  EAI_AGAIN: 'its host name cannot be looked up now',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'it does not answer',
  ENOENT: 'there is no such socket',
  EACCES: 'its socket may not be used by this user',
  EPERM: 'this process may not use the network',
});

const CERTIFICATE: Readonly<Record<string, string>> = Object.freeze({
  CERT_HAS_EXPIRED: 'its certificate has expired; renew it',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; look at both clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name; use a name that the certificate has',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is of no known authority; name its file (STEPWARD_MQTT_CA)',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an unknown authority; name the authority (STEPWARD_MQTT_CA)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an unknown authority; name the authority (STEPWARD_MQTT_CA)',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an unknown authority; name the authority (STEPWARD_MQTT_CA)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its certificate is of an unknown authority; name the authority (STEPWARD_MQTT_CA)',
});

/** TLS alerts by which a server refuses the client's certificate. */
const OUR_CERTIFICATE =
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|CERTIFICATE_(EXPIRED|REVOKED|UNKNOWN)|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/;

const LOGIN = 'it refuses the login; correct user name and password, or the client certificate';
const OLD = 'it speaks no MQTT 5; use a broker that does (Mosquitto 2, EMQX, HiveMQ, …), or the embedded one';
/** MQTT 3.1.1 (4) and MQTT 5 number their refusals differently. */
const REFUSED: Readonly<Record<4 | 5, Readonly<Record<number, readonly [BusErrorCode, string]>>>> = Object.freeze({
  4: {
    1: ['protocol', 'it refuses MQTT 3.1.1'],
    3: ['unreachable', 'it is not available now'],
    4: ['login', LOGIN],
    5: ['login', LOGIN],
  },
  5: {
    1: ['protocol', OLD],
    132: ['protocol', OLD],
    134: ['login', LOGIN],
    135: ['login', LOGIN],
    136: ['unreachable', 'it is not available now'],
    137: ['unreachable', 'it is too busy now'],
    138: ['login', 'it has banned this client'],
    140: ['login', LOGIN],
  },
});

/** Why no connection came about. */
export function whyNoConnection({ code, message }: Failure, stage: Stage): BusError {
  const { url, protocol, heard, secured } = stage;
  const say = (kind: BusErrorCode, why: string) => new BusError(kind, `the broker ${url} cannot be used: ${why}`);
  if (typeof code === 'number') {
    // An old broker answers a newcomer in its own numbers.
    const [kind, why] = REFUSED[protocol][code] ??
      (protocol === 5 ? REFUSED[4][code] : undefined) ?? ['protocol', `it refuses the connection (${message})`];
    return say(kind, why);
  }
  const name = code ?? '';
  if (CERTIFICATE[name] !== undefined) return say('certificate', CERTIFICATE[name]);
  if (name.startsWith('CERT_')) return say('certificate', `its certificate is not accepted (${name})`);
  if (OUR_CERTIFICATE.test(name)) {
    return say('login', `it does not accept the client certificate, or asks for one (${name}); see STEPWARD_MQTT_CERT`);
  }
  if (name.startsWith('ERR_SSL') || name === 'EPROTO')
    return say('protocol', `it speaks no TLS that we know (${name})`);
  if (UNREACHABLE[name] !== undefined) return say('unreachable', `${UNREACHABLE[name]} (${name})`);
  if (name === 'timeout' && !heard) return say('unreachable', 'it does not answer');
  if (name === 'timeout' || name === 'garbage') return say('protocol', 'what answers there is no MQTT broker');
  if (!secured && /^(mqtts|wss):/.test(url)) {
    return say('protocol', 'it hangs up before TLS is agreed on; is that its port for TLS?');
  }
  if (secured)
    return say('lost', 'it hangs up before it answers; does it ask for a client certificate (STEPWARD_MQTT_CERT)?');
  return say('lost', `it hangs up before it answers${name === '' ? '' : ` (${name})`}`);
}

/** Why a connection that stood has ended. @param reason of a DISCONNECT packet, MQTT 5 */
export function whyEnded(url: string, failure: Failure | null, reason: string | null): BusError {
  const why = reason ?? (failure ? failure.message.toLowerCase() : 'it hung up');
  return new BusError('lost', `the connection to the broker ${url} is lost: ${why}`);
}

export const denied = (url: string, what: string, topic: string, { message }: Failure): BusError =>
  new BusError('denied', `the broker ${url} does not let us ${what} ${topic} (${message}); correct its access rules`);
