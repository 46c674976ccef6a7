// A wall clock that a test moves under a process that is running, by way of libfaketime. The monotonic clock stays true.

import { globSync, renameSync, writeFileSync } from 'node:fs'

/** null: it is not installed here. */
export const FAKE_CLOCK: string | null =
  globSync('/{usr,usr/local,opt/homebrew}/lib{,64}/{,*/}{,faketime/}libfaketimeMT.so.1')[0] ?? null

export interface WallClock {
  /** What makes a process go by it. */
  readonly env: NodeJS.ProcessEnv
  /** From now on it is as far from the true time as that. */
  set(offsetS: number): void
}

export function openWallClock(file: string): WallClock {
  const set = (offsetS: number) => {
    writeFileSync(`${file}.new`, `${offsetS < 0 ? '' : '+'}${offsetS}\n`)
    renameSync(`${file}.new`, file) // a reader finds it whole
  }
  set(0)
  return {
    env: {
      LD_PRELOAD: FAKE_CLOCK ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
  }
}
