// What the Redis that the hosts share knows of the ledger, asked and told. One that was emptied says nothing.

import type { Alarm } from '../../../domain/alarm.ts'
import type { SharedRegister } from '../../../ports/ledger/copies.ts'
import { generationOf, WORKED_ELSEWHERE } from '../../rules/alarming.ts'
import { type History, isOutdated, type Said } from '../../rules/histories.ts'
import type { Epoch } from './identity.ts'
import { parseWitnessed } from './witness.ts'

interface Told extends Said {
  readonly place: string
  readonly text: string
}

export interface RegisterAnswer {
  readonly register: SharedRegister
  readonly told: readonly Told[]
  readonly newest: string | null
}

/** null: it is away. Who works goes on without it; who starts does not. */
export async function askRegister(register: SharedRegister, isWorking: boolean): Promise<RegisterAnswer | null> {
  try {
    const [testimonies, newest] = await Promise.all([register.testimonies(), register.newest()])
    const told = Array.from(testimonies).flatMap(([place, text]) => {
      const said = parseWitnessed(text)
      return said === null ? [] : [{ place, text, by: 'Redis', said }]
    })
    return { register, told, newest }
  } catch (error) {
    if (!isWorking) throw error
    return null
  }
}

/** Also of the file from which the ledger moved here, if anyone works with a copy of it. */
export function alarmOfNewest(newest: string | null, { remembered }: History): Alarm | null {
  return newest !== null && generationOf(newest) > remembered.epochNo ? WORKED_ELSEWHERE : null
}

/**
 * Several workers tell their epochs there. One that another worker overtook tells its next one: meanwhile its testimony says the same. Places
 * come and go: what proves nothing any more is forgotten.
 */
export async function tellRegister(
  { register, told, newest }: RegisterAnswer,
  { no, value }: Epoch,
  { testimonies, remembered }: History,
): Promise<void> {
  const outdated = testimonies.flatMap((one) => (isOutdated(one, remembered) ? [one.said] : []))
  const forgotten = told.flatMap(({ place, text, said }) => (outdated.includes(said) ? [[place, text] as const] : []))
  try {
    if (newest === null || generationOf(newest) < no) await register.replace(newest, `${no}-${value}`)
    await register.forget(new Map(forgotten))
  } catch {
    // Away. Whatever it holds is older, which is no harm.
  }
}
