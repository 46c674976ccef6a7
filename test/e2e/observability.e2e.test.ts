// What examples/observability asks for, against what a worker shows: a figure that is renamed would leave an alert silent for ever.

import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Office, openOffice, until } from '../fixtures/cli.ts'
import { figuresAt, watchedWorker } from '../fixtures/watching.ts'

const FOLDER = 'examples/observability'
const read = (name: string) => readFileSync(`${FOLDER}/${name}`, 'utf8')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string }[]
}

const rules = (parse(read('tranche.rules.yml')) as Rules).groups.flatMap((group) => group.rules)
const panels = (JSON.parse(read('dashboard.json')) as { panels: readonly Panel[] }).panels
const asked = [
  ...rules.map(({ expr }) => expr),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
]
const nameIn = /\b(?:tranche|nodejs|process)_[a-z0-9_]+/g

test('each alert is tested where it fires and where it keeps quiet', () => {
  const { tests } = parse(read('tranche.rules.test.yml')) as { tests: readonly { readonly name: string }[] }
  expect(tests.map(({ name }) => name).toSorted()).toEqual(
    rules.flatMap(({ alert }) => [alert, `${alert} is quiet`]).toSorted(),
  )
})

test('the panels of the dashboard have ids of their own and do not overlap', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24)
})

describe('a worker that has worked', () => {
  let office: Office
  let text: string
  let figures: ReadonlyMap<string, number>
  beforeAll(async () => {
    office = await openOffice({ triggers: true, env: { TRANCHE_RATE: '50' } })
    const input = await office.put(
      'in.csv',
      'reference,amount,request_currency,customer_vault_id\nA,1.00,EUR,40001\nB,5.02,EUR,40001\nC,5.06,EUR,40001\n',
    )
    office.sandbox.prepare({ vault: [{ vaultId: '40001' }] })
    const submitted = await office.tranche('submit', input, '--operation', 'CAPTURE', '--json')
    expect(submitted.code, submitted.stderr).toBe(0)
    const { running, url } = await watchedWorker(office)
    const doubts = 'tranche_rows{merchant="default",state="in_doubt"}'
    await until('all is over', async () => (await figuresAt(url)).get(doubts) === 1, running)
    text = await (await fetch(`${url}/metrics`)).text()
    figures = await figuresAt(url)
  })
  afterAll(() => office.close())

  /** Those of histograms with their endings. */
  const shown = () =>
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name as string],
    )

  test('shows every figure that a rule or a panel asks for', () => {
    const names = new Set(asked.flatMap((expr) => expr.match(nameIn) ?? []))
    expect(names.size).toBeGreaterThan(30)
    expect([...names].filter((name) => !shown().includes(name))).toEqual([])
  })

  test('has the labels by which rules and panels choose', () => {
    const chosen = asked.flatMap((expr) =>
      [...expr.matchAll(/(tranche_[a-z0-9_]+)\{([^}]*)\}/g)].flatMap(([, name, labels = '']) =>
        [...labels.matchAll(/([a-z]+)[!=]/g)].map(([, label]) => [name as string, label as string] as const),
      ),
    )
    expect(chosen.length).toBeGreaterThan(20)
    const hasLabel = (name: string, label: string) =>
      [...figures.keys()].some((key) => key.startsWith(`${name}{`) && key.includes(`${label}="`))
    const missing = chosen.filter(([name, label]) => !hasLabel(name, label)).map(([name, label]) => `${name}{${label}}`)
    // Of what has not happened there is no series yet.
    expect([...new Set(missing)].toSorted()).toEqual(['tranche_unsent_total{merchant}', 'tranche_unsent_total{why}'])
  })

  test('shows no figure of its own that the guide leaves out', () => {
    const guide = readFileSync('docs/guides/watching.md', 'utf8')
    const own = [...text.matchAll(/^# TYPE (tranche_\S+)/gm)].map(([, name]) => name as string)
    expect(own.length).toBeGreaterThan(25)
    expect(own.filter((name) => !guide.includes(`\`${name}\``))).toEqual([])
  })
})
