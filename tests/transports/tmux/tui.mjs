// A full-screen agent by script: `node tui.mjs <directory>`. Alternate screen, bracketed paste, a composer, a dialog, turns that
// last until they are told to end. What it receives and does is written to its directory; what it shall do is read from there.
//
//   starts           one pid a line                     input     every byte that came, in hexadecimal, a line a read
//   prompts.jsonl    each submitted prompt              record    {state, prompts}: its native record
//   approved, interrupted, ended                        one line each time
//   orders           read as it grows, one a line: finish, dialog, close-dialog, draft TEXT, slow MS, crash, eat-enter, mumble
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const dir = process.argv[2];
const path = (name) => join(dir, name);
const note = (name, line) => appendFileSync(path(name), `${line}\n`);

let composer = '';
let cursor = 0;
let dialog = false;
let working = false;
let mumbling = false;
let eatEnters = 0;
let slowMs = 0;
let queue = [];
const prompts = [];

function recordState() {
  if (process.env.NO_RECORD) return;
  const state = dialog ? 'blocked' : working ? 'working' : 'idle';
  // Several may live in one directory.
  const written = path(`record.${process.pid}`);
  writeFileSync(written, JSON.stringify({ pid: process.pid, state, prompts }));
  renameSync(written, path('record'));
}

function draw() {
  const { columns = 80, rows = 24 } = process.stdout;
  const state = mumbling ? 'mumbling' : dialog ? 'asking' : working ? 'working' : 'ready';
  const lines = [`= ${state} =`, ...prompts.slice(-3).map((text) => `you: ${text.slice(0, columns - 10)}`)];
  if (dialog) lines.push('Run the dangerous command?', ' 1. yes (enter)', ' 2. no');
  else {
    const width = columns - 4;
    lines.push('+--');
    const letters = [...(composer.length > 2_000 ? `[Pasted ${composer.length} letters]` : composer)];
    for (let i = 0; i === 0 || i < letters.length; i += width) lines.push(`> ${letters.slice(i, i + width).join('')}`);
    lines.push('+--');
  }
  process.stdout.write(`\x1b[H\x1b[2J${lines.slice(0, rows).join('\r\n')}\x1b]2;tui ${state}\x07`);
}

function changed() {
  recordState();
  if (slowMs > 0) setTimeout(draw, slowMs);
  else draw();
}

function submit() {
  const text = composer;
  composer = '';
  cursor = 0;
  if (text === '') return;
  note('prompts.jsonl', JSON.stringify({ text, hex: Buffer.from(text).toString('hex') }));
  queue.push(text);
  begin();
}

function begin() {
  if (working || queue.length === 0) return;
  prompts.push(queue.shift());
  working = true;
}

function insert(text) {
  // As real ones do: what is pasted while a question is open is lost.
  if (dialog) return;
  const letters = [...composer];
  composer = [...letters.slice(0, cursor), ...text, ...letters.slice(cursor)].join('');
  cursor += [...text].length;
}

function key(name) {
  if (name === 'enter') {
    if (dialog) {
      note('approved', 'yes');
      dialog = false;
    } else if (eatEnters > 0) eatEnters -= 1;
    else submit();
  } else if (name === 'escape') {
    if (dialog) dialog = false;
    if (working) {
      note('interrupted', 'yes');
      working = false;
      queue = [];
    }
  } else if (name === 'end') cursor = [...composer].length;
  else if (name === 'home') cursor = 0;
  else if (name === 'backspace' && cursor > 0) {
    const letters = [...composer];
    letters.splice(cursor - 1, 1);
    composer = letters.join('');
    cursor -= 1;
  }
}

let pending = '';
let pasting = false;
let timer = null;

function consume(isFinal) {
  for (;;) {
    if (pasting) {
      const end = pending.indexOf('\x1b[201~');
      if (end < 0) return;
      insert(pending.slice(0, end));
      pending = pending.slice(end + 6);
      pasting = false;
      continue;
    }
    if (pending === '') return;
    if (pending.startsWith('\x1b[200~')) {
      pasting = true;
      pending = pending.slice(6);
      continue;
    }
    if (pending.startsWith('\x1b')) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: keys are made of them
      const sequence = /^\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])/.exec(pending)?.[0];
      if (sequence) {
        if (['\x1b[4~', '\x1b[F', '\x1bOF'].includes(sequence)) key('end');
        if (['\x1b[1~', '\x1b[H', '\x1bOH'].includes(sequence)) key('home');
        pending = pending.slice(sequence.length);
        continue;
      }
      // It may be the beginning of something longer.
      if (!isFinal) return;
      key('escape');
      pending = pending.slice(1);
      continue;
    }
    const letter = [...pending][0];
    pending = pending.slice(letter.length);
    if (letter === '\r') key('enter');
    else if (letter === '\x7f' || letter === '\b') key('backspace');
    else if (letter === '\x05') key('end');
    else if (letter >= ' ' || letter === '\n') insert(letter);
  }
}

let bytes = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  note('input', chunk.toString('hex'));
  // A letter may be cut in two by a read.
  bytes = Buffer.concat([bytes, chunk]);
  const whole = new TextDecoder('utf-8').decode(bytes, { stream: true });
  pending += whole;
  bytes = bytes.subarray(Buffer.byteLength(whole));
  clearTimeout(timer);
  consume(false);
  timer = setTimeout(() => {
    consume(true);
    changed();
  }, 25);
  changed();
});

let done = 0;
function obey() {
  const orders = existsSync(path('orders')) ? readFileSync(path('orders'), 'utf8').split('\n').slice(0, -1) : [];
  for (const order of orders.slice(done)) {
    const [word, ...rest] = order.split(' ');
    const text = rest.join(' ');
    if (word === 'finish' && working) {
      note('ended', 'yes');
      working = false;
      begin();
    }
    if (word === 'dialog') dialog = true;
    if (word === 'close-dialog') dialog = false;
    if (word === 'draft') insert(text);
    if (word === 'empty') composer = '';
    if (word === 'slow') slowMs = Number(text);
    if (word === 'mumble') mumbling = !mumbling;
    if (word === 'eat-enter') eatEnters += 1;
    if (word === 'crash') {
      note('obeyed', order);
      process.exit(Number(text));
    }
    changed();
    note('obeyed', order);
  }
  done = Math.max(done, orders.length);
}

// An agent that was started anew does not obey what the former one was told.
done = existsSync(path('orders')) ? readFileSync(path('orders'), 'utf8').split('\n').length - 1 : 0;
note('starts', process.pid);
process.stdin.setRawMode(true);
process.stdout.write('\x1b[?1049h\x1b[?2004h');
process.stdout.on('resize', draw);
changed();
setInterval(obey, 15);
