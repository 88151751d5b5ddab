// A registry whose process dies, as by kill -9, right before or right after its N-th committed step.
import type { Registry } from '../../../src/kernel/ports.ts';

/** `before:3`: the third commit never happens; `after:3`: it has happened, and its caller never learns it. */
export function killing(plan: string): (registry: Registry) => Registry {
  const [when, count] = plan.split(':');
  let left = Number(count);
  return (registry) =>
    new Proxy(registry, {
      get(target, name) {
        const member = Reflect.get(target, name, target) as unknown;
        if (name !== 'commit' || typeof member !== 'function') {
          return typeof member === 'function' ? member.bind(target) : member;
        }
        return async (...args: Parameters<Registry['commit']>) => {
          const last = --left === 0;
          if (last && when === 'before') process.kill(process.pid, 'SIGKILL');
          const committed = await target.commit(...args);
          if (last && when === 'after') process.kill(process.pid, 'SIGKILL');
          return committed;
        };
      },
    });
}
