// What runs in the thread: the ledger once more, answering whoever works.

import { parentPort } from 'node:worker_threads'
import { openLedgerAgain } from '../ledger.ts'
import { answerOver, carry } from './calls.ts'
import { CALLS, type ThreadData } from './work-thread.ts'

parentPort?.on('message', ({ port, ...options }: ThreadData) => {
  const ledger = openOrDie(options)
  answerOver(port, Object.fromEntries([...CALLS, 'close' as const].map((name) => [name, ledger[name]])))
})

function openOrDie(options: Omit<ThreadData, 'port'>) {
  try {
    return openLedgerAgain({ ...options, die })
  } catch (error) {
    return die(error)
  }
}

/** Nothing more may happen here: the other thread ends the process. */
function die(error: unknown): never {
  parentPort?.postMessage(carry(error))
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
