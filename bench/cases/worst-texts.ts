// The worst texts of each kind: as a CSV file of 1 MiB, and as a message and an answer of the largest size that is read. How much
// processor time each takes, and how long the reading of the file holds the event loop at a time. Each is measured once.

import { writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { readAnswer } from '../../src/gateway/answered.ts'
import { createScrub } from '../../src/gateway/scrub.ts'
import { surveyFile } from '../../src/ingest/inspect-file.ts'
import { LIMITS } from '../../src/ingest/limits.ts'
import { parseMessage } from '../../src/ingest/message.ts'
import { readRows } from '../../src/ingest/rows.ts'
import { commandLine } from '../../src/present/command-line.ts'
import type { Bench, Case, Line } from '../parts/case.ts'

const FILE_BYTES = 1024 * 1024
const ANSWER_BYTES = 64 * 1024

/** Kinds of text that are costly to look at. */
export const UNITS: Readonly<Record<string, string>> = {
  letters: 'x',
  digits: '4',
  'digits and blanks': '4 ',
  'digits and dashes': '4-',
  'digits and full stops': '4.',
  'cards in groups': '4111 1111 1111 1112 ',
  'cards in odd groups': '411 1111 1111 11111 ',
  'cards in a row': '4111111111111111',
  'fullwidth digits': '\uff14',
  'Arabic digits': '\u0664',
  'unseen between digits': '4\u200b',
  'escapes of JSON': '\\u0034',
  'percent signs': '%34',
  'percent signs of percent signs': '%2525252534',
  'HTML numbers': '&#52;',
  'HTML without end': '&#5',
  backslashes: '\\',
  'names of codes': 'cvv ',
  'names of codes, long': 'security ',
  'names of codes, cut': 'kod bezpiec ',
  'three digits on': '3 digits on ',
  'tracks begun': '%B4 4 4 4 ',
  'tracks begun, the second': ';4444444444444',
  'accents upon accents': 'a\u0301\u0301\u0301',
  'letters that grow': '\ufdfa',
  'brackets and signs': '(-+€',
  dates: '2026-12-01T',
  'IBANs begun': 'DE89 3704 ',
  'UUIDs begun': '41111111-1111-',
  'base64 of digits': 'NDExMTEx',
  quotes: "'",
  tags: '<a>',
  'tags without end': '<',
}

const repeated = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

const HEADER = 'reference,transaction_type,amount,request_currency,request_ref_po_id,note'
const rowOf = (line: number, note: string) => `R${line},REFUND,1.50,EUR,${1000 + line},${note}`

/** By shape: the text of a file of that size. */
const SHAPES: Readonly<Record<string, (unit: string) => string>> = {
  'long cells': (unit) => filledWith((line) => rowOf(line, `"${repeated(unit, 15_000 / Math.max(1, width(unit)))}"`)),
  'short cells': (unit) => filledWith((line) => rowOf(line, repeated(unit, 12))),
  'many cells': (unit) =>
    filledWith((line) => rowOf(line, repeated(unit, 4)) + `,${repeated(unit, 4)}`.repeat(500), 500),
}

const width = (unit: string) => Buffer.byteLength(unit) / unit.length

function filledWith(toLine: (line: number) => string, more = 0): string {
  const lines = [HEADER + Array.from({ length: more }, (_, i) => `,c${i}`).join('')]
  for (let bytes = 0, line = 2; bytes < FILE_BYTES; line++) {
    const text = toLine(line)
    bytes += Buffer.byteLength(text) + 1
    lines.push(text)
  }
  return `${lines.join('\n')}\n`
}

const LAYOUTS: Readonly<Record<string, () => string>> = {
  'blank lines': () => `${HEADER}\n${'\n'.repeat(FILE_BYTES)}`,
  'lines of one digit': () => `${HEADER}\n${'4\n'.repeat(FILE_BYTES / 2)}`,
  'lines of delimiters': () => `${HEADER}\n${`${','.repeat(60)}\n`.repeat(FILE_BYTES / 61)}`,
  'delimiters without a line end': () => ','.repeat(FILE_BYTES),
  'quoted nothing': () => `${HEADER}\n${'"",""\n'.repeat(FILE_BYTES / 6)}`,
  'quotes that do not end': () => `${HEADER}\n"${'""'.repeat(FILE_BYTES / 2)}`,
  'quotes in cells': () => `${HEADER}\n${'a"b,c"d\n'.repeat(FILE_BYTES / 8)}`,
  'headers again': () => `${HEADER}\n`.repeat(FILE_BYTES / (HEADER.length + 1)),
  'good rows': () => filledWith((line) => rowOf(line, 'thanks')),
}

interface Cost {
  readonly cpuMs: number
  readonly heldMs: number
  readonly became: string
}

async function read(csv: string, path: string): Promise<Cost> {
  writeFileSync(path, csv)
  const file = await open(path)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  await new Promise((resolve) => setTimeout(resolve, 20))
  delay.enable()
  const before = process.cpuUsage()
  const options = { accountKey: 'a', spelling: commandLine } as const
  const survey = await surveyFile(file, options)
  let rows = 0
  if (survey.kind === 'survey') for await (const some of readRows(file, survey, options)) rows += some.length
  const { user, system } = process.cpuUsage(before)
  await new Promise((resolve) => setTimeout(resolve, 5))
  delay.disable()
  await file.close()
  return {
    cpuMs: (user + system) / 1e3,
    heldMs: delay.max / 1e6,
    became: survey.kind === 'survey' ? `${rows} rows` : survey.problem.slice(0, 60),
  }
}

function timed(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}

const scrub = createScrub({ username: 'contract-key-4711', secrets: ['s3cret-pass-of-ours'] })
const SENT = { operation: 'REFUND' as const, orderId: '1', xtlOrderId: null, money: null }
const ONE = {
  names: ['default'],
  areSeveral: false,
  accountOf: () => ({ accountKey: 'key', environment: null }),
  keyEnvironment: null,
}
const MESSAGE = { schema_version: 1, reference: 'r', transaction_type: 'CANCEL', request_ref_po_id: '1' }

/** The worst of the ways in which such a text may come: one value, or as many as there may be. */
function messageMs(unit: string): number {
  const size = LIMITS.messageCharacters - 1_000
  const some = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`k${i}`, repeated(unit, size / 195)]))
  const names = Object.fromEntries(Array.from({ length: 190 }, (_, i) => [`${repeated(unit, size / 195)}${i}`, 'x']))
  const ways = [{ cust_fname: repeated(unit, size) }, some, names, { list: [repeated(unit, size)] }]
  return Math.max(...ways.map((more) => timed(() => parseMessage({ ...MESSAGE, ...more }, ONE))))
}

function answerMs(unit: string): number {
  const text = repeated(unit, (ANSWER_BYTES - 200) / width(unit))
  const fields = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`F${i}`, text.slice(0, 500)]))
  const bodies = [
    text,
    `<html>${text}</html>`,
    `{"TRANS_STATUS_NAME":"DECLINED","ERROR_MESSAGE":${JSON.stringify(text)}}`,
    JSON.stringify({ TRANS_STATUS_NAME: 'DECLINED', ...fields }),
    `{"TRANS_STATUS_NAME":"DECLINED","ERROR_MESSAGE":"${text.replaceAll('"', '')}"}`,
  ].map((body) => Buffer.from(body).subarray(0, ANSWER_BYTES))
  return Math.max(...bodies.map((body) => timed(() => readAnswer(body, undefined, scrub, SENT))))
}

interface Text {
  readonly name: string
  readonly cpuMs: number
}

/** What the table shows of many; the person who waits sees each. */
function worst(what: string, texts: readonly Text[]): Line {
  const { name, cpuMs } = texts.reduce((most, one) => (one.cpuMs > most.cpuMs ? one : most))
  return { what: `${what}: ${name}`, unit: 'ms of processor', ours: [cpuMs] }
}

function kinds(): (readonly [string, () => string])[] {
  const filled = Object.entries(UNITS).flatMap(([name, unit]) =>
    Object.entries(SHAPES).map(([shape, make]) => [`${name}, ${shape}`, () => make(unit)] as const),
  )
  return [...Object.entries(LAYOUTS), ...filled]
}

export const worstTexts: Case = {
  name: 'worst-texts',
  async run(bench: Bench): Promise<readonly Line[]> {
    const path = join(bench.root, 'worst.csv')
    const warmUp = filledWith((line) => rowOf(line, 'warm'))
    await read(warmUp, path)
    const files: (Text & Cost)[] = []
    for (const [name, make] of kinds()) {
      const cost = await read(make(), path)
      bench.tell(`${name}: ${cost.cpuMs.toFixed(0)} ms, held for ${cost.heldMs.toFixed(0)} ms; ${cost.became}`)
      files.push({ name, ...cost })
    }
    const byUnit = (measure: (unit: string) => number) =>
      Object.entries(UNITS).map(([name, unit]) => ({ name, cpuMs: measure(unit) }))
    return [
      worst('1 MiB of CSV', files),
      {
        ...{ what: 'the longest hold of the event loop by one', unit: 'ms' },
        ...{ ours: [Math.max(...files.map(({ heldMs }) => heldMs))], goal: { atMost: 50 } },
      },
      worst('a message of 64 KiB', byUnit(messageMs)),
      worst('an answer of 64 KiB', byUnit(answerMs)),
    ]
  },
}
