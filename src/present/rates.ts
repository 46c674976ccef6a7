// The rate dial of a merchant, for programs.

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
