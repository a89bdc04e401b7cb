import { StorageError } from '../../errors.ts'
import type { Ports } from '../../ports.ts'
import { factorOf } from '../../tokens/calibrate.ts'
import type { EditEntry } from '../../transcript/entry.ts'
import { settle, tokensEnd } from '../../transcript/settle.ts'
import { toViewBlock, type ViewBlock } from '../../transcript/view-block.ts'
import type { View } from '../../transcript/view.ts'
import { isBlock, isThinking, type Block } from '../../wire/message.ts'
import { toolIdForm } from '../../wire/tool-id.ts'
import type { EntryBody } from '../../situation/session.ts'
import type { Situation } from '../../situation/situation.ts'
import { sizeOf } from '../../situation/size-of.ts'
import { LEAST_CHARS_PER_TOKEN } from '../../tokens/chars-per-token.ts'

// An answer that is larger than its window allows, from a server without limits, or with limits that do not match the window. A compaction
// keeps the newest answer, so this one would be in every later request and none would fit. It was never sent, so showing only parts of it
// from now on breaks no cache. The complete answer stays on disk.

/** Largest answer, as a share of the room next to system prompt and tools. The longest answer that we ask for is smaller. */
const ANSWER_SHARE_MAX = 1 / 2
/** How much of one block is shown, beginning and end together, as a share of that room. */
const SHOWN_SHARE = 1 / 16

/** Edits that cut the newest answer. None if it fits. */
export async function fitAnswer(
  view: View,
  situation: Situation,
  ports: Pick<Ports, 'blobs' | 'trace'>,
): Promise<readonly EntryBody<EditEntry>[]> {
  const settled = settle(view, situation.thinking)
  const index = view.nodes.findLastIndex(({ role }) => role === 'assistant')
  const node = view.nodes[index]
  const factor = factorOf(situation.calibration)
  const raw = (settled.tokens[index + 1] ?? 0) - (settled.tokens[index] ?? 0)
  const prefixTokens = Math.max(0, sizeOf(view, situation) - factor * tokensEnd(settled))
  const room = Math.max(0, situation.thresholds.blocking - prefixTokens)
  if (!node || factor * raw <= ANSWER_SHARE_MAX * room) return []
  const shownChars = Math.floor((SHOWN_SHARE * room * LEAST_CHARS_PER_TOKEN) / factor)
  const replace: EditEntry['replace'][number][] = []
  let excess = factor * raw - ANSWER_SHARE_MAX * room
  for (const block of node.blocks.toSorted((a, b) => b.tokens - a.tokens)) {
    if (excess <= 0) break
    const texts = await shownOf(block, { shownChars, id: node.source.responseId ?? node.source.id }, ports)
    const left = texts.reduce((sum, text) => sum + toViewBlock(block.at, text, false).tokens, 0)
    if (left >= block.tokens) continue
    replace.push({ at: block.at, with: texts })
    excess -= factor * (block.tokens - left)
  }
  if (replace.length === 0) return []
  const freedTokens = Math.round(factor * raw - ANSWER_SHARE_MAX * room - excess)
  ports.trace({
    name: 'answer-cut',
    answerTokens: Math.round(factor * raw),
    room: Math.round(room),
    freedTokens,
  })
  return [{ kind: 'edit', cause: 'forced', replace, drop: [], freedTokens }]
}

interface Shown {
  /** Beginning and end together, in characters. */
  readonly shownChars: number
  readonly id: string
}

/** Thinking is removed completely: none of it may be sent in part. */
async function shownOf(
  { block, json, at }: ViewBlock,
  { shownChars, id }: Shown,
  ports: Pick<Ports, 'blobs' | 'trace'>,
): Promise<readonly string[]> {
  if (isThinking(block)) return []
  const text = isBlock(block, 'text') ? block.text : json
  const where = await store(`answer-${toolIdForm(id)}-${at.index}`, text, ports)
  return [JSON.stringify(standInFor(block, text, { shownChars, where }))]
}

async function store(
  key: string,
  text: string,
  { blobs, trace }: Pick<Ports, 'blobs' | 'trace'>,
): Promise<string> {
  try {
    return `It is in ${blobs.locate(await blobs.save(key, text))}: read that file in parts.`
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    trace({ name: 'answer-not-stored', reason: error.message })
    return 'The transcript has it.'
  }
}

function standInFor(
  block: Block,
  text: string,
  { shownChars, where }: { readonly shownChars: number; readonly where: string },
): Block {
  const half = Math.floor(shownChars / 2)
  const left = text.length - 2 * half
  if (isBlock(block, 'tool_use')) {
    const { type, id, name } = block
    const said = `This call was made with an input of ${text.length} characters, which does not fit the window. ${where}`
    return { type, id, name, input: { left_out: said } }
  }
  const marker = `[${left} characters are left out here: the answer does not fit the window. ${where}]`
  const shown = [text.slice(0, half), marker, half > 0 ? text.slice(-half) : '']
  return { type: 'text', text: shown.join('\n\n').toWellFormed() }
}
