// What tests start in place of src/cli/front.ts: every command, `emit` too, in the tests' world.
import('./stepward.ts').catch((error: unknown) => {
  process.stderr.write(`error: ${String(error)}\n`);
  process.exit(1);
});
