// Measures what `test/bench/quick.ci.test.ts` compares, and with --keep puts it in the place of what it compares with.
//
//   npx node bench/quick.ts [--keep]

import { writeFileSync } from 'node:fs'
import { openBench } from './parts/bench.ts'
import { spreadOf } from './parts/figures.ts'
import { KEPT, LOOKED_AT, QUICKEST, quickRatios } from './parts/quick.ts'

const bench = openBench(QUICKEST, () => {})
process.once('exit', bench.close)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const ratios = await quickRatios(bench)
const medians = LOOKED_AT.map((name) => [name, Number(spreadOf(ratios[name]).median.toPrecision(3))])
for (const name of LOOKED_AT) console.log(name.padEnd(8), ratios[name].map((ratio) => ratio.toFixed(3)).join('  '))
if (process.argv.includes('--keep')) writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(medians), null, 2)}\n`)
process.exit()
