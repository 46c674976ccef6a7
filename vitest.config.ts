// The cost of a test is in its file's suffix; `npx vitest run .integration` and the like pick one kind.

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/fixtures/program.ts', 'test/fixtures/postgres.ts'],
    // Processes, not threads: tests start children that die with their parent, send signals and hold kernel locks.
    pool: 'forks',
    maxWorkers: 2,
    // Reached by what hangs only: the machine may be busy with much else.
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
})
