// Your own recorded session, once per strategy: what each would have cost. Files of Claude Code, Codex, pi and opencode are read as they are.
//   node --conditions=x-source examples/replay-your-logs.ts [FILE] [MODEL]

import { createReadStream } from 'node:fs'

import { readSession, replayOne, STRATEGIES, toReplaySession } from 'palimpsest/replay'

const [file = 'packages/palimpsest-cli/demo/session.jsonl', model = 'claude-sonnet-5-5'] =
  process.argv.slice(2)
const session = toReplaySession(await readSession(createReadStream(file, 'utf8')), file, model)
const strategies = STRATEGIES.filter(({ name }) => name === 'none' || name === 'palimpsest')
const report = await replayOne(session, { strategies, windows: [60_000] })
for (const { strategy, cost_usd: cost, compactions } of report.strategies)
  if (cost !== null) console.log(`${strategy}: $${cost.toFixed(2)}, ${compactions} compactions`)
