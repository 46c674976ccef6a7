// How often what must hold for every input is tried.

let share = 1

/** For a suite that looks at what is asked of an engine: another one tries all of it. */
export function tryFewer(part: number): void {
  share = part
}

export function tries(usual: number): number {
  return Math.ceil(usual * share)
}
