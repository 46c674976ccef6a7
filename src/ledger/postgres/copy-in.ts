// Many rows at once, in one statement.

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import type { Session } from './session.ts'

/** `into`: a table and its columns. `lines`: as `texts/tables.ts` has them. */
export async function copyIn(
  session: Session,
  into: string,
  lines: Iterable<string> | AsyncIterable<string | Buffer>,
): Promise<void> {
  await session.asked(pipeline(Readable.from(lines), session.client.query(copyFrom(`COPY ${into} FROM STDIN`))))
}
