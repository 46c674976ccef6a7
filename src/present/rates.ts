// The rate dial of a merchant, for people and for programs.

interface Dial {
  readonly merchant: string
  readonly perSecond: number | null
  readonly configured: number | null | undefined
}

export function toJsonDial({ merchant, perSecond, configured }: Dial): object {
  return {
    merchant,
    dial_per_second: perSecond,
    configured_here: configured !== undefined,
    configured_per_second: configured ?? null,
  }
}

export function rateText(perSecond: number | null): string {
  return perSecond === null ? 'no limit' : `${perSecond}/s`
}
