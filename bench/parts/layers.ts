// Where the time of a sending process goes: the samples of its threads' profiles, by the package or the folder of `src` whose function was
// running. Samples are taken by the clock, so that a thread that waits for the disk counts as running.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

const NATIVE = new Map([
  ['(garbage collector)', 'garbage collector'],
  ['(program)', 'native code'],
])
const WAITING = new Set(['(idle)', '(root)'])

/** Microseconds by layer, over all profiles in the folder. */
export function layersIn(dir: string): ReadonlyMap<string, number> {
  const layers = new Map<string, number>()
  for (const name of readdirSync(dir).filter((file) => file.endsWith('.cpuprofile'))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(dir, name), 'utf8')) as Profile
    const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
    samples.forEach((id, i) => {
      const frame = frames.get(id)
      if (frame === undefined || WAITING.has(frame.functionName)) return
      const layer = layerOf(frame)
      layers.set(layer, (layers.get(layer) ?? 0) + (timeDeltas[i] as number))
    })
  }
  return layers
}

function layerOf({ functionName, url }: { readonly functionName: string; readonly url: string }): string {
  const native = NATIVE.get(functionName)
  if (native !== undefined) return native
  const [, own] = /\/src\/([^/]+)\//.exec(url) ?? []
  const [, packageName] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
  if (packageName !== undefined) return packageName
  return own === undefined ? 'Node' : `src/${own}`
}
