import { listSessions } from '../../packages/palimpsest/src/node/transcripts/list-sessions.ts'
import { loadTranscript } from '../../packages/palimpsest/src/node/transcripts/load-transcript.ts'
import { readTranscript } from '../../packages/palimpsest/src/node/transcripts/read-transcript.ts'
import { viewOf } from '../../packages/palimpsest/src/transcript/view.ts'

// Opens one large file in a process of its own, so that its memory can be told, and prints what it took as JSON.

const [command = '', path = '', home = ''] = process.argv.slice(2)
const start = performance.now()
const result = await work()
const ms = Math.round(performance.now() - start)
const peakMb = Math.round(process.resourceUsage().maxRSS / 1000)
process.stdout.write(JSON.stringify({ ...result, ms, peakMb }))

async function work(): Promise<object> {
  if (command === 'load') {
    const { entries, from, warnings } = await loadTranscript(path)
    const nodes = viewOf(entries, from).nodes.length
    return { entries: entries.length, nodes, from, warnings: warnings.length }
  }
  if (command === 'list') return { sessions: (await listSessions(home)).sessions }
  let entries = 0
  let warnings = 0
  for await (const item of readTranscript(path)) {
    if (item.kind === 'entry') entries++
    if (item.kind === 'warning') warnings++
  }
  return { entries, warnings }
}
