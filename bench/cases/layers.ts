// Where the processor time of the worker goes, beside that of the plain script: sampled, whole processes with their start, once.

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Case, type Line, OPEN_REQUESTS } from '../parts/case.ts'
import { layersIn } from '../parts/layers.ts'
import { recordAndSend, sendByScript } from '../parts/sending.ts'

const LEAST_US = 0.5

export const layers: Case = {
  name: 'layers',
  async run(bench: Bench): Promise<readonly Line[]> {
    const rows = bench.sizes.sent
    const [ourDir, otherDir] = ['l-', 'l-'].map((name) => mkdtempSync(join(bench.root, name))) as [string, string]
    await recordAndSend(bench, rows, { profiles: ourDir })
    await sendByScript(bench, rows, otherDir)
    const [ours, other] = [layersIn(ourDir), layersIn(otherDir)]
    const names = [...new Set([...ours.keys(), ...other.keys()])]
    const perRow = (of: ReadonlyMap<string, number>, name: string) => (of.get(name) ?? 0) / rows
    return names
      .map((name) => ({ name, ours: perRow(ours, name), other: perRow(other, name) }))
      .filter((one) => Math.max(one.ours, one.other) >= LEAST_US)
      .toSorted((a, b) => b.ours - a.ours)
      .map((one) => ({
        what: `${rows} rows, ${OPEN_REQUESTS} open: ${one.name}`,
        unit: 'µs a row',
        ours: [one.ours],
        other: { name: 'plain script', figures: [one.other] },
      }))
  },
}
