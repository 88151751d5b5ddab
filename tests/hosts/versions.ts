// The Nodes besides the oldest one that Stepward is promised to run on, each the newest of its line when this was written.
export const NODES = Object.freeze(['22.23.3', '24.21.0'] as const);
