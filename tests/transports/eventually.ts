/** Waits for a condition; the limit only ends a test that has failed. Throws with what the condition last gave. */
export async function eventually<T>(
  test: () => T | Promise<T>,
  limitMs = 20_000,
): Promise<Exclude<NonNullable<T>, false>> {
  const end = performance.now() + limitMs;
  for (;;) {
    const value = await test();
    if (value) return value as Exclude<NonNullable<T>, false>;
    if (performance.now() > end) throw new Error(`still ${String(value)} after ${limitMs} ms: ${test}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
