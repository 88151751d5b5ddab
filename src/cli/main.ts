// Every command but `emit`, which front.ts answers by itself. `report` is an agent's command too, and loads nothing else.
import { endWith } from './end-with.ts';

const [command, ...rest] = process.argv.slice(2);

async function main(): Promise<number> {
  if (command === 'report') return (await import('./report.ts')).reportMain(rest);
  const { runProgram } = await import('./program.ts');
  const { stdin, stdout, stderr, env } = process;
  return runProgram(process.argv.slice(2), { stdin, stdout, stderr, env, cwd: process.cwd() });
}

endWith(main());
