import type { Credentials } from '../../../src/signals/bus/types.ts';
import { makeCertificates } from './certificates.ts';
import { testBus } from './conformance.ts';
import { type Mosquitto, type MosquittoOptions, startMosquitto } from './mosquitto.ts';
import { PREFIX } from './support.ts';

const certificates = makeCertificates();
const NO_TLS = {};

/** What the documentation tells an operator to write. */
const ACL = `
user driver
topic readwrite ${PREFIX}/v1/#
user agent
topic write ${PREFIX}/v1/jobs/+/+/events
topic read ${PREFIX}/v1/jobs/+/+/receipts
`;

interface Logins {
  driver: Credentials | null;
  agent: Credentials | null;
  tls?: { ca?: string; cert?: string; key?: string };
}

const mosquitto =
  (options: MosquittoOptions, { driver, agent, tls = NO_TLS }: Logins) =>
  async () => {
    const { url }: Mosquitto = await startMosquitto(options);
    const address = { url, tls, prefix: PREFIX, credentials: driver };
    return {
      settings: { kind: 'external', ...address, agent } as const,
      strong: async () => ({ ...address, protocol: 5 }) as const,
    };
  };

testBus('Mosquitto', mosquitto({}, { driver: null, agent: null }));

const users = { driver: 'secret of the driver', agent: 'secret of agents' };
testBus(
  'Mosquitto with passwords and an ACL',
  mosquitto(
    { users, acl: ACL },
    {
      driver: { username: 'driver', password: users.driver },
      agent: { username: 'agent', password: users.agent },
    },
  ),
);

testBus(
  'Mosquitto over TLS with client certificates',
  mosquitto(
    { tls: { ...certificates, askClient: true } },
    { driver: null, agent: null, tls: { ca: certificates.ca, ...certificates.client } },
  ),
);
