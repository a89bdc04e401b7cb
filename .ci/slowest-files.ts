import { relative } from 'node:path'

import type { Reporter, TestModule } from 'vitest/node'

// After a run of many files: which took longest. A suite becomes slow one file at a time, and nobody sees it.

const SHOWN = 10

export const slowestFiles: Reporter = {
  onTestRunEnd(modules) {
    if (modules.length <= SHOWN) return
    const slowest = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), ms: timeOf(module) }))
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SHOWN)
    const lines = slowest.map(({ path, ms }) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${path}`)
    process.stdout.write(`\nThe ${SHOWN} files that took longest:\n${lines.join('\n')}\n`)
  },
}

function timeOf(module: TestModule): number {
  const { duration, collectDuration } = module.diagnostic()
  return duration + collectDuration
}
