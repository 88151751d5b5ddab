// What XState would do and the kernel must not (section 4, "decide refuses"): the job machine avoids most of these traps by its
// form, so each is shown on a toy.
import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import { jobDefinition } from '../../src/jobs/definition.ts';
import { begin, decide, RestoreError, wouldTake } from '../../src/kernel/decide.ts';
import type { MachineDefinition } from '../../src/kernel/definition.ts';
import type { PersistedSnapshot } from '../../src/kernel/ports.ts';
import { plain, wordsOf } from './play.ts';

const toy = (logic: unknown): MachineDefinition => ({
  ...jobDefinition,
  logic: logic as MachineDefinition['logic'],
  phaseOf: () => 'pending',
  stateOf: (state) => String(state.value),
  outcomeOf: () => null,
});
const first = (definition: MachineDefinition): PersistedSnapshot => plain(begin(definition, {}).next.snapshot);
const CAUGHT = { type: 'again' };

describe('a finished snapshot', () => {
  const definition = toy(
    createMachine({
      id: 'toy',
      initial: 'open',
      on: { again: '.open' },
      states: { open: { on: { end: 'over' } }, over: { type: 'final' } },
    }),
  );
  const over = plain(decide(definition, first(definition), { type: 'end' }).next.snapshot);

  it('takes nothing, although the root still listens', () => {
    expect(over.status).toBe('done');
    expect(decide(definition, over, CAUGHT)).toMatchObject({ taken: false, effects: [], next: { snapshot: over } });
    expect(wouldTake(definition, plain(over), CAUGHT)).toBe(false);
  });

  it('the same event is taken while it is open', () => {
    expect(decide(definition, first(definition), CAUGHT).taken).toBe(true);
  });
});

describe('a snapshot that cannot be continued', () => {
  const wait = fromPromise(async () => {});
  const config = {
    id: 'toy',
    initial: 'a',
    states: { a: { invoke: { id: 'wait', src: 'wait', onDone: 'b' }, on: { again: 'b' } }, b: {} },
  };
  const definition = toy(createMachine(config as never, { actors: { wait } }));
  const snapshot = first(definition);

  it('a state that is gone', () => {
    const renamed = { ...snapshot, value: 'z', children: {} };
    expect(() => decide(definition, renamed, CAUGHT)).toThrow(RestoreError);
  });

  it('an effect whose logic is gone: XState drops it in silence', () => {
    const without = toy(createMachine(config as never));
    expect(() => decide(without, plain(snapshot), CAUGHT)).toThrow('no logic for wait');
    expect(() => wouldTake(without, plain(snapshot), CAUGHT)).toThrow(RestoreError);
  });

  it('an error snapshot is refused, not thrown: it was stored as what it is', () => {
    const error = { ...snapshot, status: 'error', children: {}, error: { message: 'x' } };
    expect(decide(definition, error as PersistedSnapshot, CAUGHT).taken).toBe(false);
  });

  it('an effect’s error that nobody handles is refused: XState would make an error snapshot of it', () => {
    const error = { type: 'xstate.error.actor.wait', error: { message: 'broke' } };
    expect(decide(definition, plain(snapshot), error)).toMatchObject({
      taken: false,
      next: { snapshot: { status: 'active' } },
    });
  });
});

describe('a machine that is wrong', () => {
  it('a guard or an assignment that throws, throws out of the decision', () => {
    const machine = setup({ types: { context: {} as { n: number } } }).createMachine({
      id: 'toy',
      context: { n: 0 },
      on: {
        guard: {
          guard: () => {
            throw new Error('guard');
          },
          actions: [],
        },
        assign: {
          actions: assign({
            n: () => {
              throw new Error('assign');
            },
          }),
        },
      },
    });
    const definition = toy(machine);
    expect(() => decide(definition, first(definition), { type: 'guard' })).toThrow('guard');
    expect(() => decide(definition, first(definition), { type: 'assign' })).toThrow('assign');
  });

  it('always transitions that chase each other throw, where the machine sets the bound that the job machine sets', () => {
    const { options } = jobDefinition.logic;
    const definition = toy(
      createMachine({
        id: 'toy',
        initial: 'a',
        options: { ...options },
        states: { a: { on: { again: 'b' } }, b: { always: 'c' }, c: { always: 'b' } },
      }),
    );
    expect(() => decide(definition, first(definition), CAUGHT)).toThrow('Infinite loop');
  });

  it('an action the kernel has no meaning for is an error, not a lost effect', () => {
    const definition = toy(createMachine({ id: 'toy', on: { again: { actions: { type: 'shout' } } } }));
    expect(() => decide(definition, first(definition), CAUGHT)).toThrow('no meaning for action shout');
  });

  it('a context that cannot be made throws at the beginning', () => {
    const machine = createMachine({
      id: 'toy',
      context: () => {
        throw new Error('no input');
      },
    });
    expect(() => begin(toy(machine), {})).toThrow('no input');
  });
});

describe('a timer that is armed anew', () => {
  it('is disarmed first: in the other order the row would be gone', () => {
    const definition = toy(
      createMachine({
        id: 'toy',
        initial: 'a',
        states: { a: { after: { 5: 'b' }, on: { again: { target: 'a', reenter: true } } }, b: {} },
      }),
    );
    const words = wordsOf(decide(definition, first(definition), CAUGHT).effects);
    expect(words.map((word) => word.split(' ')[0])).toEqual(['disarm', 'arm']);
  });
});
