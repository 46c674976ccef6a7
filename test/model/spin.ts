// Runs the model of claims through Spin: every state that it can come to, or the first that breaks what it asserts.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODEL = fileURLToPath(new URL('../../docs/model/claims.pml', import.meta.url))

/** On CI it must be there. */
export const MAY_SKIP = process.env.CI === undefined && spawnSync('spin', ['-V']).error !== undefined

export interface Checked {
  /** It looked at all there is. */
  readonly isWhole: boolean
  /** The assertion that does not hold; null: all hold. */
  readonly broken: string | null
  readonly states: number
}

/** `bounds`: as README has them, such as `MOST=2` or `WITHOUT_ORDER`. */
export function checkModel(...bounds: readonly string[]): Checked {
  const dir = mkdtempSync(join(tmpdir(), 'tranche-model-'))
  const run = (program: string, ...args: readonly string[]) => {
    const { error, stdout, stderr } = spawnSync(program, args, { cwd: dir, encoding: 'utf8', maxBuffer: 2 ** 26 })
    if (error !== undefined)
      throw new Error(`${program} cannot be run: ${error.message}. npm run setup -- --tests installs it.`)
    return `${stdout}${stderr}`
  }
  try {
    const said = run('spin', ...bounds.map((bound) => `-D${bound}`), '-a', MODEL)
    const compiled = run('gcc', '-O2', '-w', '-DSAFETY', '-DCOLLAPSE', '-o', 'pan', 'pan.c')
    const found = run(join(dir, 'pan'), '-m1000000', '-w26')
    const states = /(\d+) states, stored/.exec(found)?.[1]
    if (states === undefined) throw new Error(`${said}${compiled}${found}`)
    return {
      isWhole: /errors: 0/.test(found) && !/not completed|too small|out of memory/.test(found),
      broken: /assertion violated (.*?) \(at depth/.exec(found)?.[1] ?? null,
      states: Number(states),
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
