import { createAgent, type StreamModel } from 'palimpsest'
import { isBlock, parseRequest, toBlocks } from 'palimpsest/wire'

// Any function that streams the events of the Messages API is a model. This one repeats what the user said last.
const echo: StreamModel = async function* ({ body, model }) {
  const parsed = parseRequest(JSON.parse(body))
  const last = parsed.ok ? parsed.value.messages.at(-1) : undefined
  const text = toBlocks(last?.content)
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
  const usage = { input_tokens: Math.ceil(body.length / 4), output_tokens: 0 }
  const begun = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage } as const
  yield { type: 'message_start', message: { ...begun, stop_reason: null, stop_sequence: null } }
  yield { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  for (const word of text.split(/(?<= )/))
    yield { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } }
  yield { type: 'content_block_stop', index: 0 }
  yield {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: Math.ceil(text.length / 4) },
  }
  yield { type: 'message_stop' }
}

const agent = createAgent({ client: echo, model: 'echo', window: 50_000 })
for await (const event of agent.send('Anybody there?'))
  if (event.type === 'text-delta') process.stdout.write(event.text)
await agent.close()
