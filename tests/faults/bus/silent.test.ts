// Where nothing answers: told, given up, and the last resort.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emitMain } from '../../../src/cli/emit.ts';
import { prepareAttempt } from '../../../src/signals/attempt.ts';
import { eventsFilter } from '../../../src/signals/bus/topics.ts';
import { parseEnvelope } from '../../../src/signals/envelope.ts';
import { run } from '../../cli/agent-run.ts';
import { startMosquitto } from '../../signals/bus/mosquitto.ts';
import { driverAddress, hearing, openBus, PREFIX, untilBus, up, voice } from '../../signals/bus/support.ts';
import { driven, JOB, undriven } from '../../signals/world.ts';

/** Between client and broker; `freeze`: from now on nothing passes, and nobody is told. */
async function wire(port: number) {
  const sockets: Socket[] = [];
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    sockets.push(near, far);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {}).on('data', (chunk) => void (frozen || to.write(chunk)));
      from.on('close', () => void (frozen || to.destroy()));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `mqtt://127.0.0.1:${(server.address() as { port: number }).port}`,
    freeze: (is: boolean) => {
      frozen = is;
    },
  };
}

describe('a broker that becomes a black hole', () => {
  it.each(['idle', 'busy'])('is noticed by a client that is %s, told, and used again when it is back', async (how) => {
    const world = await driven();
    const { port } = await startMosquitto();
    const { url, freeze } = await wire(port);
    const settings = { kind: 'external', prefix: PREFIX, url, credentials: null, agent: null, tls: {} } as const;
    const bus = openBus(world, { settings });
    await hearing(bus);
    freeze(true);
    if (how === 'busy') await expect(bus.publish(`${PREFIX}/v1/hosts/h`, '')).rejects.toMatchObject({ code: 'lost' });
    await untilBus(bus, () => !bus.status().up);
    expect(bus.hears(JOB)).toBe(false);
    await untilBus(bus, () => bus.warnings.length > 0);
    freeze(false);
    await untilBus(bus, () => bus.hears(JOB));
  });

  it('does not hold up a stop', async () => {
    const world = await driven();
    const { port } = await startMosquitto();
    const { url, freeze } = await wire(port);
    const settings = { kind: 'external', prefix: PREFIX, url, credentials: null, agent: null, tls: {} } as const;
    const presence = { topic: `${PREFIX}/v1/hosts/h`, online: 'on', offline: 'off' };
    const bus = openBus(world, { settings, presence });
    await hearing(bus);
    freeze(true);
    await bus.stop();
    expect(bus.status().up).toBe(false);
  });
});

describe('emit of an agent that has only the bus', () => {
  it('where a broker takes it and no driver hears it: insists, then keeps it in a file, and exits with 1', async () => {
    const world = await undriven();
    const { cwd, registryDir } = world;
    const bus = openBus(world);
    await up(bus);
    const whole = { cwd, job: JOB, attempt: 1, key: await world.key(), registryDir, brief: '', command: 'stepward' };
    const paths = await prepareAttempt({ ...whole, ways: ['bus'], bus: bus.agentAddress()! });
    const driver = await voice(await driverAddress(world), eventsFilter(PREFIX, JOB));
    const { code, err } = await run(emitMain, ['progress'], { cwd, env: { STEPWARD_ENV: paths.env } });
    expect(code).toBe(1);
    const file = /^not confirmed: .*no receipt of the driver.*kept in (\S+) in case/.exec(err)?.[1] ?? '';
    const kept = parseEnvelope(await readFile(file, 'utf8'));
    // The very same envelope, again and again.
    expect(driver.heard.length).toBeGreaterThan(2);
    for (const { payload } of driver.heard) expect(JSON.parse(payload)).toEqual(kept);
  });
});
