import type { EditEntry } from '../../transcript/entry.ts'
import type { View, ViewNode } from '../../transcript/view.ts'
import { isBlock, toBlocks, type Block } from '../../wire/message.ts'

/** Most characters shown of a call's input. */
const INPUT_CHARS_MAX = 500
/** Most characters shown of a result: of one that the model still waits for, and of one that it has long seen. */
const RESULT_CHARS_MAX = 8_000
const OLD_RESULT_CHARS_MAX = 1_000

export interface RetoldAnswer {
  /** The answer as text, in place of its blocks. The results of its calls leave the view with them. */
  readonly replace: EditEntry['replace']
  /** What the calls returned, for a message of its own. Only if nothing was said after them. */
  readonly told?: string
}

/** Retells in words an answer that the provider does not accept as it is: what it called, and what the calls returned. */
export function retoldAnswer(view: View, index: number, said: string): RetoldAnswer {
  const node = view.nodes[index]
  const blocks = node?.blocks ?? []
  const results = view.nodes[index + 1]
  const isLast = view.nodes.length <= index + 2
  const calls = blocks.map(({ block }) => wordsOf(block)).filter(Boolean)
  const old = isLast ? [] : resultsOf(results, node, OLD_RESULT_CHARS_MAX)
  const text = [...calls, ...old, `[The provider did not take this answer as it was: ${said}]`].join('\n\n')
  const [first, ...rest] = blocks
  const replace = [
    ...(first ? [{ at: first.at, with: [JSON.stringify({ type: 'text', text })] }] : []),
    ...rest.map(({ at }) => ({ at, with: [] })),
  ]
  const told = isLast ? resultsOf(results, node, RESULT_CHARS_MAX) : []
  return told.length === 0 ? { replace } : { replace, told: told.join('\n\n') }
}

function wordsOf(block: Block): string {
  if (isBlock(block, 'text')) return block.text
  if (!isBlock(block, 'tool_use')) return ''
  return `[I called ${block.name} with ${JSON.stringify(block.input).slice(0, INPUT_CHARS_MAX).toWellFormed()}.]`
}

function resultsOf(results: ViewNode | undefined, answer: ViewNode | undefined, charsMax: number): string[] {
  const names = new Map(
    answer?.blocks.flatMap(({ block }) => (isBlock(block, 'tool_use') ? [[block.id, block.name]] : [])),
  )
  return (results?.blocks ?? []).flatMap(({ block }) => {
    if (!isBlock(block, 'tool_result')) return []
    const text = toBlocks(block.content)
      .map((one) => (isBlock(one, 'text') ? one.text : `[a block of type ${one.type}]`))
      .join('\n')
    const cut = text.length > charsMax ? `\n[${text.length - charsMax} characters more]` : ''
    const shown = text.slice(0, charsMax).toWellFormed()
    return [`What ${names.get(block.tool_use_id) ?? 'the call'} returned:\n${shown}${cut}`]
  })
}
