import { testBus } from './conformance.ts';
import { driverAddress, EMBEDDED, openBus, up } from './support.ts';

testBus('the embedded broker, as its holder', async (world) => ({
  settings: EMBEDDED,
  strong: () => driverAddress(world),
}));

testBus('the embedded broker that another driver holds', async (world) => {
  const holder = openBus(world);
  await up(holder);
  return { settings: EMBEDDED, strong: () => driverAddress(world) };
});
