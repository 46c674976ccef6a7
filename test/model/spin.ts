// Runs a model through Spin: every state that it can come to, or the first that breaks what it asserts.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)

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
export async function checkModel(model: 'claims' | 'sender', ...bounds: readonly string[]): Promise<Checked> {
  const file = fileURLToPath(new URL(`../../docs/model/${model}.pml`, import.meta.url))
  const dir = mkdtempSync(join(tmpdir(), 'tranche-model-'))
  const run = async (program: string, ...args: readonly string[]) => {
    try {
      const { stdout, stderr } = await execute(program, args, { cwd: dir, maxBuffer: 2 ** 26 })
      return `${stdout}${stderr}`
    } catch (error) {
      throw new Error(`${program} failed. npm run setup -- --search installs what is missing.`, { cause: error })
    }
  }
  try {
    const said = await run('spin', ...bounds.map((bound) => `-D${bound}`), '-a', file)
    const compiled = await run('gcc', '-O1', '-w', '-DSAFETY', '-o', 'pan', 'pan.c')
    const found = await run(join(dir, 'pan'), '-m10000', '-w24')
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
