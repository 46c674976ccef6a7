// A server that is asked at a steady pace, and how long its answers take.

import { setTimeout as sleep } from 'node:timers/promises'

/** How long each answer took, by what was asked for. */
export type Asked<Name extends string> = Readonly<Record<Name, number[]>>

interface Asking<Name extends string> {
  readonly paths: Readonly<Record<Name, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly asked: Asked<Name>
  readonly perSecond: number
}

/** One after another, whatever an answer takes. */
export async function askUntil<Name extends string>(
  isOver: AbortSignal,
  { paths, headers, asked, perSecond }: Asking<Name>,
): Promise<void> {
  const open: Promise<void>[] = []
  const names = Object.keys(paths) as Name[]
  for (let n = 0; !isOver.aborted; n++) {
    const name = names[n % names.length] as Name
    open.push(ask(paths[name], headers).then((tookMs) => void asked[name].push(tookMs)))
    await sleep(1000 / perSecond)
  }
  await Promise.all(open)
}

/** Milliseconds until its last byte. */
export async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const begun = performance.now()
  const answer = await fetch(url, { headers })
  await answer.text()
  if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}`)
  return performance.now() - begun
}

export function p95Of(tookMs: readonly number[]): number {
  const inOrder = tookMs.toSorted((one, other) => one - other)
  const p95 = inOrder[Math.floor(inOrder.length * 0.95)]
  if (p95 === undefined) throw new Error('the server was asked nothing')
  return p95
}
