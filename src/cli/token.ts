// The dispatch token: an attempt's identity in one word (docs/design.md section 2). It changes with the attempt and with nothing
// else, so that `close --expect-token` cannot end an attempt that its caller has never seen.
import type { Row } from '../kernel/ports.ts';

export const tokenOf = (row: Pick<Row, 'id' | 'attempt'>): string => `${row.id}.${row.attempt}`;
