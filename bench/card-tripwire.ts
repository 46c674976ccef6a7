// Prints what the tripwire for card numbers finds, what it takes for one by mistake, and how long the worst texts hold it up.
//
//   npx node bench/card-tripwire.ts [numbers of each kind] [--code FILE] [--no-times]      default 100000 src/domain/pan.ts

import { isAbsolute, resolve } from 'node:path'
import { cardOf, ISSUED, OTHERS, seeded, UNTELLABLE, WRITINGS } from '../test/fixtures/numbers.ts'

const words = process.argv.slice(2)
const count = Number(words.find((word) => /^\d+$/.test(word)) ?? 100_000)
const code = words[words.indexOf('--code') + 1]
const path = words.includes('--code') && code !== undefined ? code : 'src/domain/pan.ts'
const { holdsPan, maskPans }: { holdsPan(text: string): boolean; maskPans(text: string): string } = await import(
  isAbsolute(path) ? path : resolve(path)
)

const WORST: ReadonlyArray<readonly [name: string, piece: string]> = [
  ['`4 4 4 …`', '4 '],
  ['`4`', '4'],
  ['quotation marks', '"'],
  ['separators', ' .-/'],
  ['letters', 'abc '],
  ['card numbers', '4111111111111111 '],
  ['card numbers in groups', '4111 1111 1111 1111 '],
  ['groups that are none', '4111 1111 1111 1112 '],
  ['groups of two', '41 '],
  ['heads of IBANs', 'DE00 '],
  ['plus signs', '+'],
  ['phone numbers', '+491511234567 '],
  ['UUIDs', '75dd2312-4520-4678-9477-75dd23124520 '],
  ['hexadecimal', '75dd2312f'],
  ['percent signs', '%'],
  ['percent-escapes', '%34'],
  ['character references', '&#52;'],
  ['escapes of JSON', '\\u0034'],
  ['wide digits', '４'],
  ['mathematical digits', '𝟜'],
  ['letters of other scripts', 'é漢'],
]

printMisses()
printAlarms()
if (!words.includes('--no-times')) printTimes()

function printMisses(): void {
  const below = seeded(1)
  const issued = ISSUED.filter(({ length }) => length > 13)
  const brands = new Map<string, { seen: number; found: number }>()
  console.log(
    `\nFound of ${count.toLocaleString('en')} card numbers, spread over ${issued.length} ranges and lengths\n`,
  )
  console.log('| writing | found | masked |\n|---|---|---|')
  for (const [name, write] of WRITINGS) {
    let found = 0
    let masked = 0
    for (let i = 0; i < count; i++) {
      const issuer = issued[i % issued.length] as (typeof issued)[number]
      const text = write(cardOf(issuer, below))
      const holds = holdsPan(text)
      found += holds ? 1 : 0
      masked += holds || maskPans(text) !== text ? 1 : 0
      const brand = brands.get(issuer.brand) ?? { seen: 0, found: 0 }
      brands.set(issuer.brand, { seen: brand.seen + 1, found: brand.found + (holds ? 1 : 0) })
    }
    console.log(`| ${name.replaceAll('|', '&#124;')} | ${share(found)} | ${share(masked)} |`)
  }
  console.log('\n| brand | found in all writings |\n|---|---|')
  for (const [brand, { seen, found }] of brands) console.log(`| ${brand} | ${((100 * found) / seen).toFixed(2)} % |`)
}

function printAlarms(): void {
  const below = seeded(2)
  console.log(`\nTaken for a card number of ${count.toLocaleString('en')} of each\n`)
  console.log('| what | taken for one | masked |\n|---|---|---|')
  for (const [name, make] of [...OTHERS, ...UNTELLABLE]) {
    const texts = Array.from({ length: count }, () => make(below))
    console.log(
      `| ${name} | ${share(texts.filter((text) => holdsPan(text)).length)} | ${share(texts.filter((text) => maskPans(text) !== text).length)} |`,
    )
  }
}

function printTimes(): void {
  console.log('\nMilliseconds for 1 MiB of the worst texts\n\n| text | look | mask |\n|---|---|---|')
  for (const [name, piece] of WORST) {
    const text = piece.repeat(Math.ceil(1_048_576 / piece.length)).slice(0, 1_048_576)
    console.log(`| ${name} | ${timed(() => holdsPan(text))} | ${timed(() => maskPans(text))} |`)
  }
}

function timed(work: () => unknown): string {
  work()
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return times.toSorted((a, b) => a - b)[1]?.toFixed(0) ?? ''
}

function share(found: number): string {
  return `${((100 * found) / count).toFixed(2)} %`
}
