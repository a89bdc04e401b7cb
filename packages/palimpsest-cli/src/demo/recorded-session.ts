import { loadTranscript } from 'palimpsest/node'
import type { MessageEntry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks, type Block, type JsonObject } from 'palimpsest/wire'

// The session that the demo plays, as our own agent recorded it: what the user said, what the model answered, what the tools returned.

export interface RecordedTurn {
  readonly prompt: string
  /** Blocks of each answer. */
  readonly answers: readonly (readonly Block[])[]
}

export interface RecordedCall {
  readonly name: string
  readonly input: JsonObject
  readonly content: string | readonly Block[]
  readonly isError: boolean
}

export interface RecordedSession {
  readonly turns: readonly RecordedTurn[]
  /** In the order they were made. */
  readonly calls: readonly RecordedCall[]
}

/** Two folders up in the source, one in the bundle. */
export const RECORDING = new URL(
  import.meta.url.endsWith('.ts') ? '../../demo/session.jsonl' : '../demo/session.jsonl',
  import.meta.url,
)

export async function readRecording(path: string): Promise<RecordedSession> {
  const { entries } = await loadTranscript(path)
  const messages = entries.filter((entry): entry is MessageEntry => entry.kind === 'message')
  const turns: { prompt: string; answers: (readonly Block[])[] }[] = []
  const made = new Map<string, { readonly name: string; readonly input: JsonObject }>()
  const calls: RecordedCall[] = []
  for (const { origin, message } of messages) {
    const blocks = toBlocks(message.content)
    if (origin === 'user') turns.push({ prompt: textOf(blocks), answers: [] })
    if (message.role === 'assistant') turns.at(-1)?.answers.push(blocks)
    for (const block of blocks) {
      if (isBlock(block, 'tool_use')) made.set(block.id, { name: block.name, input: inputOf(block.input) })
      if (!isBlock(block, 'tool_result')) continue
      const call = made.get(block.tool_use_id)
      if (call) calls.push({ ...call, content: block.content ?? '', isError: block.is_error === true })
    }
  }
  return { turns, calls }
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('\n')
}

function inputOf(input: unknown): JsonObject {
  return isJsonObject(input) ? input : {}
}
