// Trouble with the registry itself (a full disk, a lock, a lost connection) says nothing about the job: whatever met it is tried
// again. By name, since the kernel must not know the implementations.
export const isRegistryTrouble = (error: unknown): boolean => error instanceof Error && error.name === 'RegistryError';

/** What anything thrown says, for people. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
