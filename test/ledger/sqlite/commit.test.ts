import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Committer, createCommitter, SYSTEM_TIMING } from '../../../src/ledger/sqlite/commit.ts'
import { SCHEMA_VERSION } from '../../../src/ledger/sqlite/schema.ts'
import type { Mode } from '../../../src/ledger/texts/engine.ts'
import { deathOf } from '../../fixtures/deaths.ts'

let db: DatabaseSync
let committer: Committer
let ends: string[]

beforeEach(() => {
  db = new DatabaseSync(':memory:')
  db.exec(`CREATE TABLE note (text TEXT NOT NULL, room BLOB); PRAGMA user_version = ${SCHEMA_VERSION}`)
  ends = []
  committer = createCommitter(db, (error) => {
    throw error
  })
  committer.beforeCommit(() => void ends.push('commit'))
  committer.afterRollback(() => void ends.push('rollback'))
  return () => db.close()
})

const ROOM_BYTES = 100_000
const KEPT = { kind: 'kept' } as const
const FAULTING = { kind: 'faulting' } as const
const CLAIM = { kind: 'refusable', refused: (why: 'full' | 'busy') => `refused: ${why}`, giveUp: () => false } as const

function note(text: string, roomBytes = 0): string {
  db.prepare('INSERT INTO note VALUES (?, zeroblob(?))').run(text, roomBytes)
  return `wrote ${text}`
}

const notes = () =>
  db
    .prepare('SELECT text FROM note ORDER BY rowid')
    .all()
    .map(({ text }) => text)

/** As a disk that holds what it holds and a few pages more. */
function fill(): void {
  const { page_count: pages } = db.prepare('PRAGMA page_count').get() as { page_count: number }
  db.exec(`PRAGMA max_page_count = ${pages + 4}`)
}
const free = () => db.exec('PRAGMA max_page_count = 1000000')

/** What a promise has come to so far. */
function watch(promise: Promise<unknown>): () => unknown {
  let seen: unknown = 'pending'
  promise.then(
    (value) => (seen = value),
    (error) => (seen = error),
  )
  return () => seen
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

test('writes that arrive together share one commit', async () => {
  const written = await Promise.all(['a', 'b', 'c'].map((text) => committer.write(() => note(text), KEPT)))
  expect(written).toEqual(['wrote a', 'wrote b', 'wrote c'])
  expect([notes(), ends]).toEqual([['a', 'b', 'c'], ['commit']])
})

test('more than fit one commit are written in their order', async () => {
  const texts = Array.from({ length: 600 }, (_, i) => String(i))
  await Promise.all(texts.map((text) => committer.write(() => note(text), CLAIM)))
  expect(notes()).toEqual(texts)
  expect(ends).toEqual(['commit', 'commit', 'commit'])
})

describe('when a commit cannot be written for want of space', () => {
  test('a claim in it is refused, though its own write went well: nothing of it is in the ledger', async () => {
    fill()
    const claim = committer.write(() => note('claim'), CLAIM)
    const large = watch(committer.write(() => note('large', ROOM_BYTES), KEPT))
    expect(await claim).toBe('refused: full')
    expect([notes(), large(), ends]).toEqual([[], 'pending', ['rollback']])
    free()
    await committer.drained()
    expect(notes()).toEqual(['large'])
  })

  test('a settlement in it is kept, and written once when there is space again', async () => {
    fill()
    const settlements = [
      watch(committer.write(() => note('small'), KEPT)),
      watch(committer.write(() => note('large', ROOM_BYTES), KEPT)),
    ]
    await turns()
    expect([settlements.map((seen) => seen()), notes()]).toEqual([['pending', 'pending'], []])
    free()
    await committer.drained()
    expect([settlements.map((seen) => seen()), notes()]).toEqual([
      ['wrote small', 'wrote large'],
      ['small', 'large'],
    ])
  })

  test('a person’s command is refused with a fault', async () => {
    fill()
    await expect(committer.write(() => note('large', ROOM_BYTES), FAULTING)).rejects.toMatchObject({
      name: 'Fault',
      code: 'full',
    })
    expect(notes()).toEqual([])
  })

  test('what comes later is written as soon as it fits', async () => {
    fill()
    expect(await committer.write(() => note('large', ROOM_BYTES), CLAIM)).toBe('refused: full')
    expect(await committer.write(() => note('small'), CLAIM)).toBe('wrote small')
  })
})

describe('when one write throws', () => {
  const wrong = () => {
    throw new Error('bug: no such move')
  }
  const tooMuch = () => db.prepare('SELECT sum(n) FROM (SELECT 9223372036854775807 AS n UNION SELECT 1)').get()

  test.each([
    ['a bug', wrong, 'bug: no such move'],
    ['a value that fits no integer', () => db.prepare('SELECT ?').get(2n ** 64n), 'BigInt value is too large to bind.'],
    ['a sum beyond 64 bits', tooMuch, 'integer overflow'],
    [
      'a broken constraint',
      () => db.exec('INSERT INTO note VALUES (NULL, NULL)'),
      'NOT NULL constraint failed: note.text',
    ],
    ['a text that is too large', () => note('large', 1_100_000_000), 'string or blob too big'],
  ])('%s rejects with it alone: its neighbours are written, and nothing of it is', async (_, throws, message) => {
    const after = (text: string) => () => {
      note(text)
      throws()
    }
    const written = ['a', 'b'].map((text) => committer.write(() => note(text), CLAIM))
    const broken = [FAULTING, KEPT, CLAIM].map((mode, i) =>
      watch(committer.write(after(`wrong ${i}`), mode as Mode<unknown>)),
    )
    written.push(committer.write(() => note('c'), KEPT))
    expect(await Promise.all(written)).toEqual(['wrote a', 'wrote b', 'wrote c'])
    await committer.drained()
    expect(notes()).toEqual(['a', 'b', 'c'])
    for (const seen of broken) expect(seen()).toMatchObject({ message })
    // Once together, then each by itself.
    expect(ends).toEqual(['rollback', 'commit', 'commit', 'rollback', 'rollback', 'rollback', 'commit'])
  })

  test('those after it share commits again', async () => {
    const first = watch(committer.write(wrong, FAULTING))
    await committer.drained()
    ends.splice(0)
    await Promise.all(['a', 'b'].map((text) => committer.write(() => note(text), KEPT)))
    expect([first(), ends]).toMatchObject([{ message: 'bug: no such move' }, ['commit']])
  })

  test('a neighbour that finds the disk full meanwhile is kept, and the others wait for it', async () => {
    const large = watch(committer.write(() => note('large', ROOM_BYTES), KEPT))
    const broken = watch(committer.write(wrong, FAULTING))
    const small = watch(committer.write(() => note('small'), KEPT))
    await turn()
    fill()
    await turns()
    expect([large(), small(), notes()]).toEqual(['pending', 'pending', []])
    free()
    await committer.drained()
    expect([broken(), notes()]).toMatchObject([{ message: 'bug: no such move' }, ['large', 'small']])
  })

  test('a failure at the end of the transaction counts as that of the write that asked for it', async () => {
    const sum: string[] = []
    committer.beforeCommit(() => {
      if (sum.includes('too much')) throw new Error('the sum does not fit')
    })
    committer.afterRollback(() => void sum.splice(0))
    const add = (text: string) => committer.write(() => sum.push(text), KEPT)
    const [small, large] = [watch(add('little')), watch(add('too much'))]
    await committer.drained()
    expect([small(), large()]).toMatchObject([1, { message: 'the sum does not fit' }])
  })
})

test.each([
  ['I/O', 10],
  ['corruption', 11],
  ['a file that is no ledger', 26],
  ['no memory', 7],
])('an error of the disk or the file (%s) ends the process before any write is answered', async (_, errcode) => {
  const claim = watch(committer.write(() => note('claim'), CLAIM))
  const wrong = watch(
    committer.write(() => {
      throw Object.assign(new Error('the disk says no'), { errcode })
    }, FAULTING),
  )
  expect(await deathOf()).toMatchObject({ message: 'the disk says no' })
  expect([claim(), wrong(), notes()]).toEqual(['pending', 'pending', []])
})

test('a commit into a file that is gone is not told: the file is looked for after the commit', async () => {
  const look = () => {
    throw new Error('the file is gone')
  }
  const die = (error: unknown): never => {
    throw error
  }
  const claim = watch(
    createCommitter(db, die, SYSTEM_TIMING, { begun() {}, committed: look }).write(() => note('claim'), CLAIM),
  )
  expect(await deathOf()).toMatchObject({ message: 'the file is gone' })
  expect([claim(), notes()]).toEqual(['pending', ['claim']])
})
