/** Where the embedded broker listens: never on an address that another machine can reach. */
export const LOOPBACK = '127.0.0.1';
