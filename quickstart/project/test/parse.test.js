import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLine, parseList } from '../src/parse.js';

test('an amount with cents', () => {
  assert.deepEqual(parseLine('tea;2,50'), { name: 'tea', cents: 250 });
});

test('a whole amount', () => {
  assert.deepEqual(parseLine('book; 12'), { name: 'book', cents: 1200 });
});

test('one digit of cents means tens', () => {
  assert.deepEqual(parseLine('nut;0,5'), { name: 'nut', cents: 50 });
});

test('a list', () => {
  assert.deepEqual(parseList('# prices\ntea;2,50\n\nbook;12\n'), [
    { name: 'tea', cents: 250 },
    { name: 'book', cents: 1200 },
  ]);
});
