import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'

import { slowestFiles } from './.ci/slowest-files.ts'
import { HeavyFirst } from './.ci/heavy-first.ts'

const conditions = ['x-source']
const HOUR_MS = 3_600_000
/** Far more than any test takes: on a busy machine all takes long, and what hangs is seen all the same. */
const CI_TEST_MS = 180_000
const timeoutMs = process.env['SOAK'] ? HOUR_MS : CI_TEST_MS

/** Processes and threads that tests start from source find it compiled: half of their time. */
const compiled = fileURLToPath(new URL('node_modules/.cache/palimpsest-compiled', import.meta.url))

const everywhere = ['packages/*/src/**', 'test/**', 'examples/**', 'bench/**']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: everywhere.map((folder) => `${folder}/*.test.ts`),
    globalSetup: './test/kit/bundle.ts',
    setupFiles: './test/kit/near-sources.ts',
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    reporters: ['default', slowestFiles],
    // Node runs these sources itself, as it runs the command: no second way of loading them, and no time for it.
    // Nothing is mocked, so nobody needs to look into what is loaded.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Files share a worker: seven times faster, and a test that leaks into another is a bug of ours. Processes, not threads: what a test
    // forks copies the tables of one worker's memory and not of all.
    pool: 'forks',
    isolate: false,
    sequence: { sequencer: HeavyFirst },
    // One more than cores: some mostly wait for a process, a screen or a disk. Each further one loads and compiles all of it again.
    maxWorkers: availableParallelism() + 1,
    env: { NODE_COMPILE_CACHE: compiled },
    // They throw away much of what they make: with more room for what is young, less of it is copied before that.
    execArgv: ['--conditions=x-source', '--max-semi-space-size=32'],
  },
})
