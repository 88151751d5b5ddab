// What a command works with, opened only when it asks: bad input must be answered before anything is written, and a command that
// reads must not create the registry it finds missing.
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Engine } from '../jobs/engine.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Registry } from '../kernel/ports.ts';
import { REGISTRY_FILE } from '../registry/sqlite/files.ts';
import type { BusSettings } from '../signals/bus/types.ts';
import { resolveBus } from './bus-settings.ts';
import type { Config } from './config/schema.ts';
import { UsageError } from './errors.ts';
import { createOutput, type Io, type Output } from './io.ts';
import { findProject, type Project, type RegistryPlace, registryPlace, requireUsable } from './project.ts';

export interface Globals {
  registry?: string | undefined;
  json?: boolean | undefined;
  verbose?: boolean | undefined;
}

export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly flags: Globals;
  /** What stood behind `--`: a command line, or null. */
  readonly rest: string[] | null;
  project(): Promise<Project>;
  config(): Promise<Config>;
  registryPlace(): Promise<RegistryPlace>;
  busSettings(): Promise<BusSettings>;
  /** For looking. Null: there is none yet. */
  registry(): Promise<Registry | null>;
  /** For acting. Creates the registry if there is none. */
  engine(): Promise<Engine>;
  close(): Promise<void>;
}

export function createContext(io: Io, flags: Globals, rest: string[] | null): Context {
  const closers: (() => Promise<void>)[] = [];
  const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
    let made: Promise<T> | null = null;
    return () => {
      made ??= make();
      return made;
    };
  };
  const project = once(() => findProject(io.cwd, io.env));
  const config = once(async () => {
    const { configFile } = await project();
    if (!configFile) return { agents: {}, timeouts: {}, bus: {} };
    const { loadConfig } = await import('./config/load.ts');
    return loadConfig(configFile);
  });
  const place = once(async () => {
    if (flags.registry === '') {
      throw new UsageError({ option: '--registry', value: '', problem: 'is empty', allowed: 'a directory' });
    }
    const wishes = { flag: flags.registry, variable: io.env.STEPWARD_REGISTRY };
    // A broken config must not hide the jobs of a registry that was named without it.
    const configured = wishes.flag || wishes.variable ? undefined : (await config()).registry;
    const found = registryPlace(await project(), { ...wishes, config: configured });
    requireUsable(found);
    return found;
  });
  const busSettings = once(async () => {
    const { configFile, cwd } = await project();
    return resolveBus((await config()).bus, io.env, configFile ? dirname(configFile) : cwd, cwd);
  });
  /** A wrong setting must not keep anybody from cancelling; what needs the bus (delegate, host) asks busSettings itself. */
  const usableBus = async (): Promise<BusSettings> => {
    try {
      return await busSettings();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      out.say(`warning: ${error.message}; this command goes on without the bus`);
      return { kind: 'off' };
    }
  };
  const out = createOutput(io, flags.json === true);
  return {
    io,
    out,
    flags,
    rest,
    project,
    config,
    registryPlace: place,
    busSettings,
    registry: once(async () => {
      const { dir } = await place();
      // Empty: somebody is about to make one, or gave up.
      if (!statSync(join(dir, REGISTRY_FILE), { throwIfNoEntry: false })?.size) return null;
      const { openSqliteRegistry } = await import('../registry/sqlite/open.ts');
      const registry = await openSqliteRegistry({ dir, clock: io.world?.clock ?? systemClock, readonly: true });
      closers.push(() => registry.close());
      return registry;
    }),
    engine: once(async () => {
      const { openEngine } = await import('../jobs/engine.ts');
      const engine = await openEngine({
        ...io.world,
        registryDir: (await place()).dir,
        bus: await usableBus(),
        warn: (message) => out.say(`warning: ${message}`),
      });
      closers.push(() => engine.stop());
      return engine;
    }),
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
