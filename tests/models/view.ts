// A state's value as the page speaks of it: where the attempt is, and in `injected` where each of the four regions is.
import type { JobState } from './graph.ts';

export type Place = 'queued' | 'preflight' | 'idle-wait' | 'subscribed' | 'injected' | 'finalizing' | 'ended';
export interface View {
  place: Place;
  /** idle-wait: probing or resting; finalizing: draining, settling or verifying; ended: which end. */
  part: string | null;
  delivery: 'holding' | 'typing' | 'accepted' | 'unknown' | null;
  turn: 'notBegun' | 'working' | 'blocked' | 'quiet' | 'reminding' | 'waiting' | 'hidden' | null;
  activity: 'held' | 'counting' | null;
  channel: 'open' | 'reading' | 'resting' | null;
  /** An agent that can only speak by the bus, and the bus is away. */
  unheard: boolean;
}

type Regions = Record<'delivery' | 'turn' | 'activity' | 'channel', string | Record<string, string>>;

const innermost = (value: string | Record<string, string>): string =>
  typeof value === 'string' ? value : (Object.values(value)[0] ?? '');

export function viewOf(state: JobState): View {
  const { busOnly, busAway } = state.context;
  const none = { part: null, delivery: null, turn: null, activity: null, channel: null, unheard: false };
  const value = state.value as string | Record<string, string | { injected: Regions }>;
  if (typeof value === 'string') {
    return state.status === 'done' ? { ...none, place: 'ended', part: value } : { ...none, place: value as Place };
  }
  const [place = '', below = ''] = Object.entries(value)[0] ?? [];
  if (typeof below === 'string') {
    return below === 'subscribed'
      ? { ...none, place: below, unheard: busOnly && busAway !== null }
      : { ...none, place: place as Place, part: below };
  }
  const { delivery, turn, activity, channel } = below.injected;
  return {
    place: 'injected',
    part: null,
    delivery: innermost(delivery) as View['delivery'],
    turn: innermost(turn) as View['turn'],
    activity: innermost(activity) as View['activity'],
    channel: innermost(channel) as View['channel'],
    unheard: busOnly && channel !== 'open',
  };
}

/** Where it is, without what the context remembers: `injected accepted+blocked`, `finalizing draining`. */
export function placeName(state: JobState, withChannel = true): string {
  const { place, part, delivery, turn, channel } = viewOf(state);
  if (place === 'injected')
    return `injected ${delivery}+${turn}${withChannel && channel !== 'open' ? `+${channel}` : ''}`;
  if (place === 'subscribed') return viewOf(state).unheard ? 'subscribed, unheard' : place;
  return place === 'ended' ? `ended ${part}` : part ? `${place} ${part}` : place;
}

/** One line for one node; two nodes of a graph never share it, apart from what `keyOf` leaves out. */
export function stateName(state: JobState, withChannel = true): string {
  const { outcome, hold, deliveryStarted, reminded, turnRuns, lastPermission, heardFromAgent, idleRetries } =
    state.context;
  const pending = state.hasTag('pending');
  const marks = [
    outcome && `${outcome.status}:${outcome.reason}`,
    hold === 'dialog' && 'dialog',
    deliveryStarted && 'sent',
    reminded && 'reminded',
    turnRuns && 'runs',
    lastPermission > 0 && 'asked',
    (pending || state.hasTag('injected')) && heardFromAgent && 'heard',
    pending && idleRetries === 0 && 'last try',
  ].filter(Boolean);
  return `${placeName(state, withChannel)}${marks.length > 0 ? ` {${marks.join(' ')}}` : ''}`;
}
