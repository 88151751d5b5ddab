#!/usr/bin/env node
// The entry. What an agent runs (`emit`, `report`) comes first and loads nothing else: it is called for every event, and each
// library would cost it more than its own work takes.
const [command] = process.argv.slice(2);

async function main(): Promise<number> {
  if (command === 'emit') return (await import('./emit.ts')).emitMain(process.argv.slice(3));
  if (command === 'report') return (await import('./report.ts')).reportMain(process.argv.slice(3));
  const { runProgram } = await import('./program.ts');
  const { stdin, stdout, stderr, env } = process;
  return runProgram(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd() });
}

// If everything is over before main() is, Node would end with 0, which says "completed".
process.exitCode = 1;
process.once('beforeExit', () => process.stderr.write('error: ended without a result\n'));

main().then(
  // exit() and not exitCode: a handle that somebody forgot must not keep a finished command from ending.
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
