// The holder's own connection to the broker in its process: no socket, no mqtt.js. Subscriptions wait for aedes to be loaded; what is
// published before has no listener and is dropped, which is why the bus counts a new generation when aedes comes up.
import type { Aedes, PublishPacket } from 'aedes';
import { ANSWER_MS, type Link, type OnMessage, within } from './link.ts';
import { BusError } from './types.ts';

export interface Inside {
  link: Link;
  /** Before the first client is let in, so that none of its messages is missed. */
  attach(aedes: Aedes): void;
  /** Enough messages wait here to be dealt with. */
  isBusy(): boolean;
  /** The broker is gone. */
  end(why: BusError): void;
}

/** What may wait here to be dealt with before those who publish it wait, bytes and messages. */
const BUSY_BYTES = 256 * 1024;
const BUSY_MESSAGES = 200;

type Deliver = (packet: PublishPacket, done: () => void) => void;

/** @param close gives back the broker. Never throws. */
export function createInside(onMessage: OnMessage, warn: (error: unknown) => void, close: () => Promise<void>): Inside {
  const subscriptions = new Map<string, Deliver>();
  let aedes: Aedes | null = null;
  let end: (why: BusError) => void = () => {};
  const closed = new Promise<BusError>((resolve) => {
    end = resolve;
  });
  let ended = false;
  closed.then(() => {
    ended = true;
  });
  let closing: Promise<void> | null = null;
  /** One after the other, as a client gets them. */
  let turn: Promise<void> = Promise.resolve();

  const waiting = { bytes: 0, messages: 0 };

  const deliver: Deliver = ({ topic, payload, retain }, done) => {
    waiting.bytes += payload.length;
    waiting.messages++;
    turn = turn
      .then(() => onMessage({ topic, payload: payload.toString(), retain }))
      // The publisher has its PUBACK already (aedes gives it first); only the missing receipt tells it.
      .catch(warn)
      .then(() => {
        waiting.bytes -= payload.length;
        waiting.messages--;
      });
    // aedes has a hundred places for messages that somebody is not done with: a registry that is slow would take them from all.
    done();
  };

  return {
    attach(broker) {
      aedes = broker;
      for (const [filter, one] of subscriptions) broker.subscribe(filter, one, () => {});
    },
    isBusy: () => waiting.bytes > BUSY_BYTES || waiting.messages > BUSY_MESSAGES,
    end,
    link: {
      closed,
      async subscribe(filter) {
        if (subscriptions.has(filter)) return;
        const one: Deliver = (packet, done) => deliver(packet, done);
        subscriptions.set(filter, one);
        if (aedes) await new Promise<void>((resolve) => aedes?.subscribe(filter, one, resolve));
      },
      async unsubscribe(filter) {
        const one = subscriptions.get(filter);
        if (!subscriptions.delete(filter) || !one) return;
        if (aedes) await new Promise<void>((resolve) => aedes?.unsubscribe(filter, one, resolve));
      },
      async publish(topic, payload, retain) {
        if (ended) throw await closed;
        const broker = aedes;
        if (!broker) return;
        const packet: PublishPacket = {
          cmd: 'publish',
          topic,
          payload: Buffer.from(payload),
          qos: 1,
          retain,
          dup: false,
        };
        const taken = new Promise<Error | undefined>((resolve) =>
          broker.publish(packet, (why) => resolve(why ?? undefined)),
        );
        const error = await within(ANSWER_MS, taken, () => {
          // It will not recover by itself; the bus begins anew, with another broker on the same port.
          const stuck = new BusError('lost', 'the embedded broker takes nothing any more');
          end(stuck);
          return stuck;
        });
        if (error) throw new BusError('lost', `the embedded broker did not take ${topic}: ${error.message}`);
      },
      close() {
        closing ??= close().then(() => end(new BusError('lost', 'the embedded broker was closed')));
        return closing;
      },
    },
  };
}
