// The name of a test file says which tier runs it: docs/TESTING.md.

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { Times } from './test/fixtures/times.ts'

/** What takes minutes by itself. It begins first, so that nothing of it is left over at the end, alone on one core. */
const LONGEST = ['test/model/', 'test/nemesis/hosts.', 'test/simulation/', 'test/ledger/postgres/ledger/']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((part) => moduleId.includes(part))
    const others = await super.sort(files.filter((file) => !isLong(file)))
    return [...files.filter(isLong), ...others]
  }
}

const IN_PROCESS = 'test/**/*.integration.test.ts'
/**
 * They look at every statement that their process prepares (fixtures/plans.ts), or change how it verifies who a server is: a second one of
 * these in the same process fails.
 */
const ALONE = [
  'test/ledger/{sqlite,postgres}/ledger/*.integration.test.ts',
  'test/{gateway,sandbox,server}/*tls*.integration.test.ts',
  'test/queues/connection.integration.test.ts',
]
const STORIES = 'test/**/*.e2e.test.ts'
const WITH_PROCESSES = 'test/**/*.{ci,search}.test.ts'

/** Processes, not threads: tests start children that die with their parent, send signals and hold kernel locks. */
const PARTS = { pool: 'forks', globalSetup: ['test/fixtures/program.ts', 'test/fixtures/postgres.ts'] } as const

export default defineConfig({
  test: {
    setupFiles: process.env.PROPERTY_SEED === undefined ? [] : ['test/search/properties.ts'],
    // One more than cores: half of the tests wait for something.
    maxWorkers: 3,
    ...(process.env.TEST_TIMES !== undefined && {
      maxWorkers: 1,
      reporters: [process.stdout.isTTY ? 'dot' : 'minimal', new Times()],
    }),
    // The bundle of the program (fixtures/program.ts) is Node's to load, which takes half as long.
    server: { deps: { external: [/\/tranche-program-\w+\//] } },
    sequence: { sequencer: LongestFirst },
    // Reached by what hangs only: the machine may be busy with much else.
    testTimeout: 300_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Nothing outside is touched. Files share a process, and what it has read: half of a small file's time is reading the source.
        test: {
          name: 'pure',
          include: ['test/**/*.test.ts'],
          exclude: [IN_PROCESS, STORIES, WITH_PROCESSES],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'parts', include: [IN_PROCESS], exclude: ALONE, isolate: false, ...PARTS },
      },
      {
        extends: true,
        // Most commands of a story run in the process of the test, where the first costs ten times what the next one does.
        test: { name: 'stories', include: [STORIES], isolate: false, ...PARTS },
      },
      {
        extends: true,
        // No `exclude` of its own: it would take the place of the one of `npm test`.
        test: { name: 'processes', include: [WITH_PROCESSES, ...ALONE], ...PARTS },
      },
    ],
  },
})
