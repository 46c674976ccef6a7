// A gateway that answers as no contract has it, over fresh and over kept connections: whatever it says, nothing is
// executed twice and nothing is told that did not happen.

import { test } from 'vitest'
import { readCsv } from '../fixtures/books.ts'
import { openOffice } from '../fixtures/cli.ts'
import { tallied } from '../fixtures/counts.ts'
import { orderOf, refundRow, toCsv } from '../fixtures/files.ts'
import { type Answer, FAMILIES, type Status } from './answers.ts'
import { answerTruly, openRawGateway, type Script, toJson } from './gateway.ts'
import { lies } from './truth.ts'

type Connections = 'fresh' | 'warm'

const everyFamily = Object.entries(FAMILIES).flatMap(([family, all]) =>
  (['fresh', 'warm'] as const).map((connections) => ({ family, connections, answers: all })),
)

test.concurrent.for(everyFamily)(
  '$family, over a $connections connection, turns nothing round',
  async ({ connections, answers }, { expect }) => {
    const wrong: string[] = []
    expect(answers).not.toEqual([])
    tallied(`hostile answers over ${connections} connections`, answers.length)
    for (const parts of runsOf(answers)) wrong.push(...(await play(parts, connections)))
    expect(wrong).toEqual([])
  },
)

/** An answer to one row, by a gateway that executed it or did not. */
interface Part {
  readonly answer: Answer
  readonly executes: boolean
}

/** All of them may come into doubt, and ten doubts pause the account. */
const PARTS_IN_A_RUN = 8

function runsOf(answers: readonly Answer[]): Part[][] {
  const parts = answers
    .flatMap((answer) => [true, false].map((executes) => ({ answer, executes })))
    .filter((part) => expectedOf(part).length > 0)
  const together = parts.filter(({ answer }) => !answer.alone)
  const runs = parts.filter(({ answer }) => answer.alone).map((part) => [part])
  for (let at = 0; at < together.length; at += PARTS_IN_A_RUN) runs.push(together.slice(at, at + PARTS_IN_A_RUN))
  return runs
}

/** A good row around every part: three troubles in a row would be waited for, and on a kept connection it is the next to be answered. */
async function play(parts: readonly Part[], connections: Connections): Promise<string[]> {
  const rows = Array.from({ length: 2 * parts.length + 1 }, (_, i) => refundRow(i + 1))
  const partOf = new Map(parts.map((part, i) => [orderOf(2 * i + 2), part]))
  await using gateway = await openRawGateway()
  gateway.play(scriptOf(partOf))
  const office = await openOffice({
    env: {
      TRANCHE_GATEWAY_URL: gateway.url,
      TRANCHE_CONNECTIONS: connections,
      TRANCHE_IN_FLIGHT: '1',
      TRANCHE_TIMEOUT_MS: parts.some(({ answer }) => answer.slow) ? '2500' : '20000',
    },
  })
  try {
    const input = await office.put('in.csv', toCsv(rows))
    const out = office.path('out.csv')
    const ran = await office.tranche('run', input, '--out', out)
    if (![0, 3, 5, 6].includes(ran.code ?? -1)) return [`it ended with ${ran.code}: ${ran.stderr}`]
    const lines = readCsv(out)
    const statuses = lines.map((line) => line.result_status as Status)
    const expected = exitCodeOf(statuses)
    return [
      ...lies(office.ledgerPath, gateway, { input, out }),
      ...lines.flatMap((line) => unexpectedIn(line, partOf, connections)),
      ...(ran.code === expected ? [] : [`it ended with ${ran.code}, not ${expected}: ${statuses}`]),
    ]
  } finally {
    await office.close()
  }
}

function scriptOf(partOf: ReadonlyMap<string, Part>): Script {
  return (asked, line) => {
    const part = asked.nth === 1 ? partOf.get(asked.target) : undefined
    if (part === undefined) return answerTruly(asked, line, line.execute())
    const { play, refuses } = part.answer
    if (refuses) return play({ json: '', entry: null, line })
    const entry = line.execute(part.executes ? 'APPROVED' : 'DECLINED')
    return play({ json: toJson(entry), entry, line })
  }
}

function unexpectedIn(
  { request_ref_po_id: order = '', result_status: status = '', result_reason: reason }: Partial<Record<string, string>>,
  partOf: ReadonlyMap<string, Part>,
  connections: Connections,
): string[] {
  const part = partOf.get(order)
  const expected =
    part === undefined ? expectedOfGood(partOf, connections) : [...expectedOf(part), ...alsoOn(connections)]
  if (expected.includes(status as Status)) return []
  return [`${part === undefined ? 'a good row' : nameOf(part)} is ${status} (${reason}), not ${expected.join(' or ')}`]
}

/** What stops the account leaves it waiting, and a kept connection that was spoilt may take it along. */
function expectedOfGood(partOf: ReadonlyMap<string, Part>, connections: Connections): readonly Status[] {
  const stopped: readonly Status[] = [...partOf.values()].some(({ answer }) => answer.alone) ? ['PENDING'] : []
  return ['APPROVED', ...stopped, ...alsoOn(connections)]
}

/** Over a connection that carried another request less is certain. */
function alsoOn(connections: Connections): readonly Status[] {
  return connections === 'warm' ? ['IN_DOUBT'] : []
}

function expectedOf({ answer, executes }: Part): readonly Status[] {
  return executes ? answer.executed : answer.not
}

function nameOf({ answer, executes }: Part): string {
  return `${answer.title} (${executes ? 'executed' : 'not executed'})`
}

/** As the README has them. */
function exitCodeOf(statuses: readonly Status[]): number {
  if (statuses.includes('PENDING')) return 6
  if (statuses.includes('IN_DOUBT')) return 5
  return statuses.every((status) => status === 'APPROVED') ? 0 : 3
}
