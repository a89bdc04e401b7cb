import type Anthropic from '@anthropic-ai/sdk'
import { compaction, microCompaction, sessionNotes, toolResults } from 'palimpsest/layers'

const history: Anthropic.MessageParam[] = [
  { role: 'user', content: 'Fix the parser. Never touch legacy.ts.' },
]
for (let i = 0; i < 30; i++)
  history.push(
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: `call_${i}`, name: 'Read', input: { file_path: `/src/part-${i}.ts` } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `call_${i}`,
          content: `const part${i} = parse(${i})\n`.repeat(150),
        },
      ],
    },
  )
history.push({ role: 'assistant', content: 'I have read it all.' }, { role: 'user', content: 'Continue.' })

// Layer 1: large results leave, a preview and a path stay. You keep the texts.
const { stored } = toolResults(history, { resultCharsMax: 3_000 })
console.log(`${stored.length} results to keep, the first at ${stored[0]?.path}`)

// Layer 2: old results become stand-ins, once, when you say so.
const { cleared, messages } = microCompaction(history, { model: 'claude-sonnet-5-5', keep: 5 })
console.log(`${cleared.length} results cleared of ${messages.length} messages`)

// Layer 3: notes, without a model, and the request that has one write better ones.
const { notes, prompt } = sessionNotes(history)
console.log(notes.includes('/src/part-29.ts'), prompt.includes(notes))

// Layer 4: a summary and the newest part.
const compacted = await compaction(history, { model: 'claude-sonnet-5-5', window: 20_000 })
console.log(
  compacted.compacted,
  compacted.path,
  JSON.stringify(compacted.messages).includes('Never touch legacy.ts'),
)
