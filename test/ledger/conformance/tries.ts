// How often what must hold for every input is tried.

let share = 1

/** For an engine on which each try takes ten times as long: the scripts that are tried are those of the other one. */
export function tryFewer(part: number): void {
  share = part
}

export function tries(usual: number): number {
  return Math.ceil(usual * share)
}
