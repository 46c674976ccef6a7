// One pass through bytes for any number of needles at once (Aho and Corasick), however many there are.

/** Calls `found` for each place where a needle stands, with the needle's index and where it begins. */
export type Matcher = (bytes: Uint8Array, found: (needle: number, at: number) => void) => void

const NONE = -1

/** The tree of the needles. Of each state: where each byte leads, and which needles end there. */
interface Tree {
  /** 256 for each state. */
  readonly next: Int32Array
  readonly ends: readonly (readonly number[])[]
}

export function openMatcher(needles: readonly Uint8Array[]): Matcher {
  const tree = treeOf(needles)
  const suffixes = completed(tree.next)
  const { next } = tree
  /** Needles that end in a state, those that are the end of a longer one included. */
  const ends = endsOf(tree, suffixes)
  const isEnd = Uint8Array.from(ends, (needles) => Number(needles.length > 0))
  return (bytes, found) => {
    let state = 0
    for (let at = 0; at < bytes.length; at += 1) {
      state = next[state * 256 + (bytes[at] as number)] as number
      if (isEnd[state] === 0) continue
      for (const needle of ends[state] as readonly number[])
        found(needle, at + 1 - (needles[needle] as Uint8Array).length)
    }
  }
}

function treeOf(needles: readonly Uint8Array[]): Tree {
  const statesMax = needles.reduce((sum, { length }) => sum + length, 1)
  const next = new Int32Array(statesMax * 256).fill(NONE)
  const ends: number[][] = [[]]
  for (const [which, needle] of needles.entries()) {
    let state = 0
    for (const byte of needle) {
      const slot = state * 256 + byte
      if (next[slot] === NONE) next[slot] = ends.push([]) - 1
      state = next[slot] as number
    }
    ends[state]?.push(which)
  }
  return { next: next.subarray(0, ends.length * 256), ends }
}

/** Fills in where a byte leads that goes on with no needle: on with its longest end. Answers with the states in order, each with that end. */
function completed(next: Int32Array): Map<number, number> {
  const suffixes = new Map<number, number>([[0, 0]])
  for (const state of suffixes.keys()) {
    const suffix = suffixes.get(state) as number
    for (let byte = 0; byte < 256; byte += 1) {
      const slot = state * 256 + byte
      const otherwise = state === 0 ? 0 : (next[suffix * 256 + byte] as number)
      const child = next[slot] as number
      if (child === NONE) next[slot] = otherwise
      else suffixes.set(child, otherwise)
    }
  }
  return suffixes
}

function endsOf({ ends }: Tree, suffixes: ReadonlyMap<number, number>): readonly (readonly number[])[] {
  const all = ends.map((own) => [...own])
  for (const [state, suffix] of suffixes) if (state !== 0) all[state]?.push(...(all[suffix] ?? []))
  return all
}
