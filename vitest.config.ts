import { defineConfig } from 'vitest/config'

const conditions = ['x-source']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    pool: 'threads',
    isolate: false,
    testTimeout: process.env['SOAK'] ? 3_600_000 : 60_000,
    execArgv: ['--conditions=x-source'],
  },
})
