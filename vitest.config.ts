import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

import { dearestFiles } from './.ci/dearest-files.ts'

const conditions = ['x-source']
const HOUR_MS = 3_600_000
/** Far more than any test takes: on a busy machine all takes long, and what hangs is seen all the same. */
const CI_TEST_MS = 180_000
const timeoutMs = process.env['SOAK'] ? HOUR_MS : CI_TEST_MS

/** Processes and threads that tests start from source find it compiled: half of their time. */
const compiled = fileURLToPath(new URL('node_modules/.cache/palimpsest-compiled', import.meta.url))

const everywhere = ['packages/*/src/**', 'test/**', 'examples/**', 'bench/**']
/** Starts processes by the hundred, none of them the command. */
const shells = [
  'packages/palimpsest-cli/src/agent/**/*.heavy.test.ts',
  'packages/palimpsest-cli/src/team/branch-work.heavy.test.ts',
  'test/attacks/*.heavy.test.ts',
]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    setupFiles: './test/kit/near-sources.ts',
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    reporters: ['default', dearestFiles],
    // Node runs these sources itself, as it runs the command: no second way of loading them, and no time for it.
    // Nothing is mocked, so nobody needs to look into what is loaded.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // One more than cores: some mostly wait for a process, a screen or a disk. Each further one loads and compiles all of it again.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        // Files share a worker: seven times faster, and a test that leaks into another is a bug of ours. Those that start processes, pack or
        // change the process they run in (`x.heavy.test.ts`) share it too: what is loaded and compiled once serves all. Processes, not
        // threads: what a test forks copies the tables of one worker's memory and not of all.
        extends: true,
        test: {
          name: 'all',
          include: everywhere.map((folder) => `${folder}/*.test.ts`),
          exclude: shells,
          pool: 'forks',
          isolate: false,
          globalSetup: './test/kit/bundle.ts',
          env: { NODE_COMPILE_CACHE: compiled },
          // They throw away much of what they make: with more room for what is young, less of it is copied before that.
          execArgv: ['--conditions=x-source', '--max-semi-space-size=32'],
        },
      },
      {
        // In young workers: to start a process takes longer, the more memory the one that starts it has used.
        extends: true,
        test: {
          name: 'shells',
          include: shells,
          pool: 'forks',
          isolate: false,
          env: { NODE_COMPILE_CACHE: compiled },
          execArgv: ['--conditions=x-source'],
        },
      },
    ],
  },
})
