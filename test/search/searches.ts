// What `npm run search` looks with: one entry is one search.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GUARDS } from './guards.ts'
import { ROOT, runTests, simulate, takeOut } from './rounds.ts'
import type { Search } from './shares.ts'

/** A file of tests that takes its seed from a variable. */
const seeded =
  (file: string, variable: string): Search['round'] =>
  (_nth, seed) =>
    runTests(file, { [variable]: `${seed}` })

/** Each file once: it is the same each time. */
const once =
  (files: readonly string[]): Search['round'] =>
  (nth) =>
    nth < files.length ? runTests(files[nth]!, {}) : null

const files = (pattern: string) => globSync(pattern, { cwd: ROOT }).toSorted()

const HAS_PROPERTIES = /^import fc from 'fast-check'.*fc\.assert\(/ms
const PROPERTIES = [
  ...files('test/**/*.test.ts').filter((file) => HAS_PROPERTIES.test(readFileSync(join(ROOT, file), 'utf8'))),
  ...files('test/ledger/sqlite/{ledger/*,model.search}.test.ts'),
]
const MODEL = files('test/model/*.search.test.ts')
const PLANS = files('test/ledger/postgres/**/*.search.test.ts')
const SCREENS = files('test/console/browser/*.search.test.ts')
const PLANTED = files('test/simulation/**/*.search.test.ts')
const SEEDED = files('test/hostile/{people,canaries*}.search.test.ts')
const ELSEWHERE = [...PROPERTIES, ...MODEL, ...PLANS, ...SCREENS, ...PLANTED, ...SEEDED]
const OTHERS = files('test/**/*.search.test.ts').filter((file) => !ELSEWHERE.includes(file))

const BROWSERS = [process.env.TRANCHE_TEST_CHROMIUM || 'chromium', 'chromium-browser', 'google-chrome']

export const SEARCHES: readonly Search[] = [
  { name: 'simulator', share: 4, roundSeconds: 25, round: (_nth, seed) => simulate(seed, 100) },
  { name: 'every-await', share: 3, roundSeconds: 45, round: (_nth, seed) => simulate(seed, 1, '--every-await') },
  { name: 'hosts-simulator', share: 4, roundSeconds: 60, round: (_nth, seed) => simulate(seed, 20, '--hosts') },
  { name: 'nemesis', share: 3, roundSeconds: 60, round: seeded('test/nemesis/random', 'NEMESIS_SEEDS') },
  { name: 'hosts-nemesis', share: 3, roundSeconds: 120, round: seeded('test/nemesis/hosts', 'NEMESIS_HOSTS_SEEDS') },
  { name: 'people', share: 3, roundSeconds: 60, round: seeded('test/hostile/people', 'HOSTILE_SEEDS') },
  { name: 'kept', share: 1, roundSeconds: 40, round: seeded('test/hostile/kept', 'HOSTILE_SEEDS') },
  { name: 'canaries', share: 1, roundSeconds: 120, round: seeded('test/hostile/canaries', 'HOSTILE_SEEDS') },
  {
    ...{ name: 'properties', share: 4, roundSeconds: 40 },
    round: (nth, seed) => {
      const file = PROPERTIES[(seed + nth) % PROPERTIES.length]!
      return runTests(file, { PROPERTY_SEED: `${seed}`, PROPERTY_SECONDS: '5' })
    },
  },
  { name: 'writers', share: 1, roundSeconds: 60, round: seeded('test/ingest/writers', 'WRITERS_SEED') },
  {
    ...{ name: 'formats', share: 1, roundSeconds: 30, needs: ['soffice', 'libreoffice'] },
    round: seeded('test/ingest/number-formats.ci', 'FORMATS_SEED'),
  },
  {
    ...{ name: 'guards', share: 3, roundSeconds: 30 },
    round: (nth, seed) => (nth < GUARDS.length ? takeOut((seed + nth) % GUARDS.length) : null),
  },
  { name: 'model', share: 4, roundSeconds: 500, needs: ['spin'], round: once(MODEL) },
  { name: 'plans', share: 1, roundSeconds: 600, round: once(PLANS) },
  { name: 'planted', share: 1, roundSeconds: 600, round: once(PLANTED) },
  { name: 'screens', share: 1, roundSeconds: 240, needs: BROWSERS, round: once(SCREENS) },
  { name: 'others', share: 1, roundSeconds: 240, round: once(OTHERS) },
]
