// Who is told of a group commit, and when the next one begins.

import { expect, test } from 'vitest'
import { FAULTING, KEPT } from '../../src/ledger/texts/engine.ts'
import { createWriteQueue, type Entry, type Transacted } from '../../src/ledger/write-queue.ts'

const inTurn = { soon: (run: () => void) => void setImmediate(run), later: () => {} }

/** A queue whose transactions end when the test says so; `happened` tells in which order they began and who was told. */
function queueByHand() {
  const happened: string[] = []
  const open: Array<(how: Transacted) => void> = []
  const queue = createWriteQueue<string>(
    (entries: readonly Entry<string>[], ended) => {
      for (const entry of entries) entry.result = entry.work
      happened.push(`begin ${entries.map(({ work }) => work).join('+')}`)
      open.push(ended)
    },
    'full',
    inTurn,
  )
  const write = (work: string, mode: typeof KEPT | typeof FAULTING = KEPT) =>
    queue.write(work, mode).then(
      (result) => void happened.push(`told ${result}`),
      () => void happened.push(`refused ${work}`),
    )
  const begun = (count: number) => expect.poll(() => open.length).toBe(count)
  const end = (n: number, how: Transacted) => open[n]!(how)
  return { happened, queue, write, begun, end }
}

test('the next transaction begins after all of the one before are told', async () => {
  const { happened, write, begun, end } = queueByHand()
  const a = write('a')
  await begun(1)
  void write('b')
  end(0, { kind: 'written' })
  await a
  await begun(2)
  expect(happened).toEqual(['begin a', 'told a', 'begin b'])
})

test('where it may go on, what waits is begun first, and all are told', async () => {
  const { happened, queue, write, begun, end } = queueByHand()
  const all = [write('a')]
  await begun(1)
  all.push(write('b'), write('c'))
  end(0, { kind: 'written', goesOn: true })
  await all[0]
  expect(happened).toEqual(['begin a', 'begin b+c', 'told a'])
  end(1, { kind: 'written', goesOn: true })
  await Promise.all(all)
  await queue.drained()
  expect(happened.slice(3)).toEqual(['told b', 'told c'])
})

test('after a transaction that broke each is written alone, also where it may go on', async () => {
  const { happened, write, begun, end } = queueByHand()
  const all = [write('a'), write('b', FAULTING), write('c')]
  await begun(1)
  end(0, { kind: 'broke', error: new Error('b') })
  await begun(2)
  end(1, { kind: 'written', goesOn: true })
  await begun(3)
  end(2, { kind: 'broke', error: new Error('b') })
  await begun(4)
  end(3, { kind: 'written', goesOn: true })
  await Promise.all(all)
  expect(happened.filter((one) => one.startsWith('begin'))).toEqual(['begin a+b+c', 'begin a', 'begin b', 'begin c'])
  expect(happened).toContain('refused b')
})
