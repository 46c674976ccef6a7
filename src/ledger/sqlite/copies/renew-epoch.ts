// The epoch of a ledger, replaced: by a worker again and again, and when a person takes the ledger over.

import type { DatabaseSync } from 'node:sqlite'
import { stoppedBy } from '../../../domain/alarm.ts'
import { Fault } from '../../../domain/fault.ts'
import type { CopyLedger, SharedRegister } from '../../../ports/ledger/copies.ts'
import { type Epoch, isUnknownSince, WORKED_ELSEWHERE } from '../../rules/alarming.ts'
import type { Committer } from '../commit.ts'
import { epochFileOf, nextEpoch, stageEpoch } from './epoch-file.ts'
import { alarmOf, currentIdentity, identityIn, prepareProgress, remember } from './identity.ts'
import type { Witness } from './witness.ts'

export interface EpochParts {
  readonly path: string
  readonly ledgerId: string
  readonly witness: Witness
  readonly die: (error: unknown) => never
}

interface EpochChange {
  readonly register?: SharedRegister | null | undefined
  /** Others may take the register away: while work goes on it goes on without. */
  readonly working?: boolean
  readonly restored?: boolean
  /** Inside the first commit. */
  readonly also?: () => void
}

/**
 * The first commit knows every epoch that may stand anywhere by now: a crash on either side of what follows is no alarm.
 */
export function prepareEpochChange(
  db: DatabaseSync,
  committer: Committer,
  { path, ledgerId, witness }: EpochParts,
): (change: EpochChange) => Promise<void> {
  const progress = prepareProgress(db)
  const write = (work: () => void) => committer.write(work, { kind: 'faulting' })
  return async ({ register = null, working = false, restored = false, also = () => {} }) => {
    const { epochs = [], overrules = false } = identityIn(db) ?? {}
    const known = epochs.map(({ epoch }) => epoch)
    const held = register === null ? SILENT : await answerOf(register.newest(), working)
    const registered = held.kind === 'silent' || held.value === null ? [] : [held.value]
    if (!overrules && registered.some((epoch) => isUnknownSince(epoch, known))) throw stoppedBy(WORKED_ELSEWHERE, path)
    const testified = witness.testimonies().map(({ epoch }) => epoch)
    const next: Epoch = { ledgerId, epoch: nextEpoch([...known, ...testified, ...registered]) }
    const witnesses = witness.files()
    const staged = stageEpoch(path, next)
    try {
      await write(() => {
        const both = [...epochs, { epoch: next.epoch, file: staged.file }]
        remember(db, { ...currentIdentity(path, ledgerId), epochs: both, overrules: overrules || restored, witnesses })
        also()
      })
      if (register !== null && held.kind === 'answered') {
        const replaced = await answerOf(register.replace(held.value, next.epoch), working)
        if (replaced.kind === 'answered' && !replaced.value) throw stoppedBy(WORKED_ELSEWHERE, path)
      }
      staged.put()
    } finally {
      staged.discard()
    }
    const inPlace = [{ epoch: next.epoch, file: epochFileOf(path) }]
    const still = restored || (overrules && register === null)
    const { timesAgree } = staged
    await write(() =>
      remember(db, { ...currentIdentity(path, ledgerId), epochs: inPlace, overrules: still, witnesses, timesAgree }),
    )
    witness.testify(next.epoch, progress())
  }
}

type Asked<T> = { readonly kind: 'answered'; readonly value: T } | { readonly kind: 'silent' }
const SILENT = { kind: 'silent' } as const

async function answerOf<T>(question: Promise<T>, working: boolean): Promise<Asked<T>> {
  try {
    return { kind: 'answered', value: await question }
  } catch (error) {
    if (!working) throw error
    return SILENT
  }
}

export function createRenewing(
  db: DatabaseSync,
  replaceEpoch: (change: EpochChange) => Promise<void>,
  { path, ledgerId, witness, die }: EpochParts,
): Pick<CopyLedger, 'alarm' | 'renewEpoch'> {
  let working = false
  const look = () => alarmOf(db, path, ledgerId, witness)
  return {
    alarm: async () => look(),

    async renewEpoch(register) {
      const alarm = look()
      // The file was tidied away under a worker: it holds the lock and the file is in its place, so it writes the epoch again.
      const missed = working && (alarm?.kind === 'unmarked' || alarm?.kind === 'touched')
      if (alarm !== null && !missed) {
        if (working) die(stoppedBy(alarm, path))
        throw stoppedBy(alarm, path)
      }
      try {
        await replaceEpoch({ register, working })
      } catch (error) {
        if (working && error instanceof Fault && error.code === 'stopped') die(error)
        throw error
      }
      working = true
    },
  }
}
