// The work on a ledger in a thread of its own: neither SQL nor a commit that waits for the disk holds up the thread that speaks with
// the gateway. The contracts are the same, and so is what they promise: a claim or a settlement is answered when it is on the disk.

import { getCompileCacheDir } from 'node:module'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Ledger } from '../../../ports/ledger/ledger.ts'
import { ALONE } from '../../texts/work/alone.ts'
import type { LedgerOptions } from '../ledger.ts'
import { arrived, type Carried, callOver } from './calls.ts'

/** What is called while rows are worked off and messages are taken. */
export const CALLS = [
  ...[
    'sweep',
    'sweepForgotten',
    'endOverlongRests',
    'recordHealth',
    'beat',
    'keepDoubtRest',
    'applyLimits',
    'finishCancelling',
    'cancelExpired',
    'sweepLost',
    'expireApprovals',
  ],
  ...[
    'workable',
    'dueRows',
    'claim',
    'settle',
    'stopAccount',
    'recordClock',
    'tryCredentials',
    'controls',
    'recordMessage',
    'recordRefusal',
  ],
] as const satisfies readonly (keyof Ledger)[]

/** All that a worker and the intake of messages call. */
export type WorkingPart = Pick<Ledger, (typeof CALLS)[number] | keyof typeof ALONE>

export type ThreadData = Pick<LedgerOptions, 'path' | 'submitLockPath' | 'witnessDirs'> & { readonly port: MessagePort }

export interface WorkThread extends WorkingPart {
  /** Resolves when all that was handed in is written and the thread has nothing of this ledger open. */
  close(): Promise<void>
}

/** A thread finds the code that was compiled before only where its environment names it. */
function withCompiledCode(): NodeJS.ProcessEnv {
  const directory = getCompileCacheDir()
  return directory === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: directory }
}

/** A thread without a ledger waits here for the next one: to start one costs more processor time than the work on a small file. */
let idle: Worker | null = null

function startThread(): Worker {
  const code = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js', import.meta.url)
  const thread = new Worker(code, { name: 'ledger', env: withCompiledCode() })
  // One that ends while it waits would be asked in vain.
  return thread.once('exit', () => {
    if (idle === thread) idle = null
  })
}

function takeThread(): Worker {
  const thread = idle ?? startThread()
  idle = null
  thread.ref()
  return thread
}

async function putAside(thread: Worker): Promise<void> {
  if (idle !== null) {
    await thread.terminate()
    return
  }
  thread.unref()
  idle = thread
}

/** Of a ledger that this process has open and keeps open longer. `die` ends the process, as it does for the ledger itself. */
export function openWorkThread({ die, ...options }: LedgerOptions): WorkThread {
  const { port1: port, port2 } = new MessageChannel()
  const thread = takeThread()
  let isOver = false
  const end = (error: unknown) => {
    isOver = true
    die(error)
  }
  const endAsTold = (carried: Carried) => end(arrived(carried))
  const endWithThread = () => {
    if (!isOver) end(new Error('the thread of the ledger ended'))
  }
  thread.once('message', endAsTold).once('error', end).once('exit', endWithThread)
  thread.postMessage({ ...options, port: port2 } satisfies ThreadData, [port2])
  const calls = callOver(port, [...CALLS, 'close']) as unknown as WorkThread
  let closed: Promise<void> | null = null
  const close = async () => {
    if (!isOver) await calls.close()
    port.close()
    thread.off('message', endAsTold).off('error', end).off('exit', endWithThread)
    // One that failed never answers again.
    if (isOver) await thread.terminate()
    else await putAside(thread)
  }
  return {
    ...calls,
    // The worker lock keeps every other owner out.
    ...ALONE,
    close() {
      closed ??= close()
      return closed
    },
  }
}
