// One run of a command or of its other side over a file of so many rows, with a look whether it did its work.

import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench, Settled } from './case.ts'
import { type Office, plainEnvironment } from './office.ts'
import { assertDone, type Ended, startSide, type Took } from './process.ts'
import { sendByWorker } from './sending.ts'

export async function runCheck(bench: Bench, rows: number): Promise<Took> {
  const office = await bench.office({ made: false })
  const took = await office.run(['check', bench.refunds(rows), '--operation', 'REFUND', '--json'])
  office.close()
  assertDone(took.last.ok === true && took.last.accepted === rows, `check did not accept ${rows} rows`, took)
  return noted(bench, 'check', rows, took)
}

export async function runSubmit(bench: Bench, rows: number, office: Office): Promise<Took & { batch: string }> {
  const took = await office.run(['submit', bench.refunds(rows), '--operation', 'REFUND', '--json'])
  assertDone(took.last.accepted === rows, `submit did not record ${rows} rows`, took)
  return { ...noted(bench, 'submit', rows, took), batch: took.last.batch as string }
}

export async function runResults(bench: Bench, rows: number, { office, batch }: Settled): Promise<Took> {
  const out = resultsPath(office)
  for (const path of [out, out.replace('.csv', '.summary.csv')]) rmSync(path, { force: true })
  const took = await office.run(['results', batch, '--out', out, '--json'])
  assertDone(linesIn(out) === rows + 1, `results wrote ${linesIn(out)} lines for ${rows} rows`, took)
  return noted(bench, 'results', rows, took)
}

/** Over the same file, without anything of ours. */
export async function runParse(bench: Bench, rows: number): Promise<Took> {
  const took = await side(bench, 'parse', [bench.refunds(rows)])
  assertDone(took.last.records === rows + 1, `csv-parse gave ${took.last.records} records for ${rows} rows`, took)
  return took
}

/** As many rows with the cells of one that was written. `runResults` comes first. */
export async function runStringify(bench: Bench, rows: number, { office }: Settled): Promise<Took> {
  const out = join(bench.root, 'other-side.csv')
  const written = resultsPath(office)
  const took = await side(bench, 'stringify', [
    out,
    String(rows),
    JSON.stringify({ ...modelIn(written), own: OWN_CELL }),
  ])
  const [ours, theirs] = [statSync(written).size, statSync(out).size]
  assertDone(linesIn(out) === rows + 1, `csv-stringify wrote ${linesIn(out)} lines for ${rows} rows`, took)
  assertDone(Math.abs(theirs / ours - 1) < 0.05, `the files differ in size: ${ours} bytes, the other side ${theirs}`)
  rmSync(out)
  return took
}

/** Submits the rows and works them off. */
export async function settle(bench: Bench, rows: number): Promise<Settled> {
  const office = await bench.office()
  const { batch } = await runSubmit(bench, rows, office)
  bench.tell(`${rows} rows are submitted and are being sent`)
  noted(bench, 'worker', rows, await sendByWorker(await bench.gateway(), office, rows))
  return { office, batch }
}

/** Also keeps the most memory of it, for the case that compares it. */
function noted<T extends Pick<Took, 'peakMiB'>>({ peaks }: Bench, what: string, rows: number, took: T): T {
  const name = `${what} ${rows}`
  peaks.set(name, [...(peaks.get(name) ?? []), took.peakMiB])
  return took
}

async function side({ root }: Bench, name: string, args: readonly string[]): Promise<Ended> {
  const took = await startSide(name, args, { env: plainEnvironment(), dir: root }).ended
  assertDone(took.code === 0, `${name} failed`, took)
  return took
}

function resultsPath({ dir }: Office): string {
  return join(dir, 'out.csv')
}

/** Each record of the other side has its own number there. */
const OWN_CELL = 'result_row'
const PIECE_BYTES = 1 << 20
const LINE_END = 10

/** No cell of these files has a line break in it. */
function linesIn(path: string): number {
  const file = openSync(path, 'r')
  const piece = Buffer.alloc(PIECE_BYTES)
  let lines = 0
  try {
    for (let got = readSync(file, piece); got > 0; got = readSync(file, piece))
      for (let at = piece.indexOf(LINE_END); at !== -1 && at < got; at = piece.indexOf(LINE_END, at + 1)) lines += 1
  } finally {
    closeSync(file)
  }
  return lines
}

/** A row from the middle of the file, whose numbers are as wide as most. No cell has a comma or a quotation mark. */
function modelIn(path: string): { header: string[]; cells: string[] } {
  const [header = []] = recordsAt(path, 0)
  const [, cells = []] = recordsAt(path, Math.floor(statSync(path).size / 2))
  assertDone(cells.length === header.length && header.includes(OWN_CELL), 'the results are not as plain as they were')
  return { header, cells }
}

/** The first of these may be cut off in front. */
function recordsAt(path: string, position: number): string[][] {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.alloc(PIECE_BYTES)
    const text = piece.toString('utf8', 0, readSync(file, piece, 0, PIECE_BYTES, position))
    return text.split('\n').map((line) => line.replace('\r', '').split(','))
  } finally {
    closeSync(file)
  }
}
