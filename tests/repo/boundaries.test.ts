// docs/design.md section 3: imports point downwards only.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Lowest first, as the page lists them. A file may import its own layer and those before it. */
const LAYERS = [
  'machines',
  'kernel',
  'registry',
  'signals',
  'transports',
  'agents',
  'jobs',
  'loops',
  'charts',
  'bench',
  'web',
  'cli',
];

const layerOf = (file: string): string => {
  const [top = '', second = ''] = relative(root, file).split('/');
  return top === 'src' ? second : top;
};

const filesBelow = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));

interface Import {
  file: string;
  target: string;
  typeOnly: boolean;
}

const IMPORT = /^(?:import|export)\s+(type\s+)?[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm;

const importsOf = (file: string): Import[] =>
  [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, type, from, lazy]) => ({
    file,
    target: from ?? lazy ?? '',
    typeOnly: type !== undefined,
  }));

const files = [...filesBelow('machines'), ...filesBelow('src')];
const imports = files.flatMap(importsOf);
const show = ({ file, target }: Import): string => `${relative(root, file)} → ${target}`;
const resolved = ({ file, target }: Import): string => resolve(dirname(file), target);

describe('imports', () => {
  it('are found at all', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(100);
  });

  it('point downwards', () => {
    const upwards = imports
      .filter(({ target }) => target.startsWith('.'))
      .filter((one) => LAYERS.indexOf(layerOf(resolved(one))) > LAYERS.indexOf(layerOf(one.file)));
    expect(upwards.map(show)).toEqual([]);
  });

  it('name a layer of the page', () => {
    expect(files.map(layerOf).filter((layer) => !LAYERS.includes(layer))).toEqual([]);
  });

  it('of the machines are xstate, zod and themselves', () => {
    const foreign = imports
      .filter(({ file }) => layerOf(file) === 'machines')
      .filter(({ target }) => !['xstate', 'zod'].includes(target) && !target.startsWith('./'));
    expect(foreign.map(show)).toEqual([]);
  });

  it('of a registry from src/ are the kernel’s ports, as types', () => {
    const foreign = imports
      .filter((one) => layerOf(one.file) === 'registry' && one.target.startsWith('.'))
      .filter((one) => !['registry', 'machines'].includes(layerOf(resolved(one))))
      .filter((one) => !(one.typeOnly && resolved(one).endsWith('kernel/ports.ts')));
    expect(foreign.map(show)).toEqual([]);
  });

  it('of XState stay behind the machines, decide and the definitions', () => {
    const users = imports
      .filter(({ target, typeOnly }) => target === 'xstate' && !typeOnly)
      .map(({ file }) => relative(root, file))
      .filter((file) => !file.startsWith('machines/'));
    expect(users).toEqual(['src/kernel/decide.ts']);
  });
});

describe('files', () => {
  it('are small: 300 lines at most, 100 in the median', () => {
    const lengths = files.map((file) => ({
      file: relative(root, file),
      lines: readFileSync(file, 'utf8').split('\n').length,
    }));
    const long = lengths.filter(({ lines }) => lines > 300);
    expect(long).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(100);
  });
});
