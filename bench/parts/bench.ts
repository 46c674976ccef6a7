// What the cases of one run share: sizes, a directory, the files, the gateway, and an installation whose rows are settled.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bench, OPEN_REQUESTS, type Rounds, type Settled, type Sizes } from './case.ts'
import { writeRefunds } from './files.ts'
import { type BareGateway, openGateway } from './gateway.ts'
import { openOffice } from './office.ts'
import { killAll } from './process.ts'
import { settle } from './runs.ts'

export const SIZES: Sizes = {
  rounds: 5,
  sent: 20_000,
  slow: 10_000,
  minute: 76_800,
  large: 1_000_000,
  small: 10_000,
  starts: 5,
}

export function openBench(sizes: Sizes, tell: (text: string) => void): Bench {
  const root = mkdtempSync(join(tmpdir(), 'tb-'))
  const files = new Map<number, string>()
  const settled = new Map<number, Promise<Settled>>()
  let gateway: Promise<BareGateway> | null = null
  const bench: Bench = {
    sizes,
    root,
    tell,
    peaks: new Map(),
    refunds(rows) {
      const path = files.get(rows) ?? join(root, `refunds-${rows}.csv`)
      if (!files.has(rows)) writeRefunds(path, rows)
      files.set(rows, path)
      return path
    },
    gateway() {
      gateway ??= openGateway()
      return gateway
    },
    async office(options = {}) {
      const { url } = await bench.gateway()
      return openOffice(root, { gatewayUrl: url, open: OPEN_REQUESTS, connections: 'warm', ...options })
    },
    rounds: (sides) => inTurn(sizes.rounds, sides, tell),
    settled(rows) {
      const made = settled.get(rows) ?? settle(bench, rows)
      settled.set(rows, made)
      return made
    },
    close() {
      void gateway?.then((opened) => opened.close())
      killAll()
      rmSync(root, { recursive: true, force: true })
    },
  }
  return bench
}

async function inTurn<T, Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
  tell: (text: string) => void,
): Promise<Rounds<T, Side>> {
  const names = Object.keys(sides) as Side[]
  const seen = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Side, T[]>
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length
    for (const name of [...names.slice(first), ...names.slice(0, first)]) seen[name].push(await sides[name]())
    tell(`round ${round + 1} of ${rounds}`)
  }
  return seen
}
