import { defineConfig } from 'rolldown'

// The command as a few files instead of hundreds: half of the way to a prompt was finding and reading them. The library goes in, from its
// source; what comes from others stays outside and is loaded when it is needed.

export default defineConfig({
  input: {
    main: 'src/main.ts',
    'session-worker': 'src/replay/session-worker.ts',
    'index-worker': '../palimpsest/src/node/recall-index/index-worker.ts',
    tools: 'src/agent/coding-tools.ts',
  },
  cwd: import.meta.dirname,
  platform: 'node',
  resolve: { conditionNames: ['x-source', 'node', 'import', 'default'] },
  external: (id) => !id.startsWith('.') && !id.startsWith('/') && !/^palimpsest(\/|$)/.test(id),
  output: {
    dir: 'dist',
    format: 'esm',
    // All in one folder: a file finds its neighbours beside itself.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // What many need must not lie in a file with what few need: who reads a stored session would load the simulator with it.
    codeSplitting: { groups: [{ name: 'wire', test: /palimpsest\/src\/wire\// }] },
  },
})
