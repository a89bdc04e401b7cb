import { createContext, createFlags } from 'palimpsest'

// Flags switch off what acts by itself, or set its numbers: the first source that knows a flag decides.
const flags = createFlags([
  { name: 'ours', find: (flag) => ({ 'micro-batch': false, 'result-chars-max': 10_000 })[flag] },
])

const context = createContext({
  model: 'claude-sonnet-5-5',
  window: 100_000, // never more than this
  flags,
  policy: {
    clearing: { gapMinutes: 30, keepResults: 10 }, // after a pause
    compaction: { keep: 'rich' }, // more stays, for more money
  },
  onTrace: ({ name, reason }) => console.log(`${name}: ${reason}`), // each decision, with its reason
})
const { plan } = await context.prepare({
  messages: [{ role: 'user', content: 'Hello.' }],
  max_tokens: 1_000,
})
console.log(`${plan.percentLeft}% left`)
await context.close()
