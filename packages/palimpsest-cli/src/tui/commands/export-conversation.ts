import { writeFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'

import { openChain, openPlainFile, type ChainReader } from 'palimpsest/node'
import type { Entry } from 'palimpsest/transcript'
import { isBlock, isJsonObject, toBlocks, type Block } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { sentenceOf } from '../../report-error.ts'
import { html } from '../../replay/page/html.ts'
import type { PageSource } from '../pager/page-source.ts'
import { isShownEntry, saidText } from '../screen/past-lines.ts'
import { toolLabel } from '../screen/tool-lines.ts'
import { lineText } from '../text/styled-line.ts'
import { note, tell, type CommandPlace } from './command-place.ts'
import { openWhole } from './open-pages.ts'

// Writes the whole conversation to a file, including what was compacted. The file ending sets the format: .md, .html, .jsonl (the
// transcript as it is), or text.

const EXPORT_COLUMNS = 100
/** The conversation is private. */
const EXPORT_MODE = 0o600

/** Writes piece by piece, so size does not matter. */
export async function exportConversation(name: string, place: CommandPlace): Promise<undefined> {
  const { conversation, interruptible, ui, wishes } = place
  const path = resolve(wishes.cwd, name)
  const from = conversation.prepared.opened.file.path
  if (conversation.log().length === 0) return note('nothing has been said yet', place)
  ui.setLive({ activity: 'Writing the conversation' })
  await interruptible(async (signal) => {
    const pieces = piecesOf(extname(path).toLowerCase(), from, place)
    const problem = await writeFile(path, pieces, { flag: 'wx', mode: EXPORT_MODE, signal }).then(
      () => undefined,
      (error: unknown) => sentenceOf(error),
    )
    if (problem === undefined) tell(`written to ${path}`, place)
    else note(`not written: ${problem}. Name another file`, place)
  })
  return undefined
}

function piecesOf(ending: string, from: string, place: CommandPlace): AsyncIterable<string | Uint8Array> {
  switch (ending) {
    case '.md':
      return markdownPieces(from)
    case '.html':
      return htmlPieces(from, place.conversation.id)
    case '.jsonl':
      return filePieces(from)
    default:
      return textPieces(openWhole(place.conversation))
  }
}

const CHUNK_BYTES = 1024 * 1024

async function* filePieces(from: string): AsyncGenerator<Uint8Array> {
  const file = await openPlainFile(from)
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

async function* textPieces(opening: Promise<PageSource>): AsyncGenerator<string> {
  const source = await opening
  for (let piece = 0; piece < source.count; piece++) {
    const lines = await source.lines(piece, EXPORT_COLUMNS)
    if (lines.length > 0) yield `${lines.map(lineText).join('\n')}\n`
  }
  await source.close()
}

async function* markdownPieces(from: string): AsyncGenerator<string> {
  for await (const { who, parts } of turnsIn(from)) {
    yield `## ${who}\n\n`
    for (const { kind, title, text } of parts)
      yield kind === 'text' ? `${text}\n\n` : `**${title}**\n\n${fenced(text)}\n\n`
  }
}

async function* htmlPieces(from: string, id: string): AsyncGenerator<string> {
  yield html`<!doctype html><meta charset="utf-8" /><title>Conversation ${id}</title>
    <style>
      body {
        font: 16px/1.5 system-ui;
        max-width: 50em;
        margin: 2em auto;
        padding: 0 1em;
      }
      pre {
        background: #8881;
        padding: 0.6em;
        overflow: auto;
        white-space: pre-wrap;
      }
    </style>`.markup
  for await (const { who, parts } of turnsIn(from)) {
    yield html`<h2>${who}</h2>`.markup
    for (const { kind, title, text } of parts)
      yield kind === 'text'
        ? html`<p style="white-space:pre-wrap">${text}</p>`.markup
        : html`<details>
            <summary>${title}</summary>
            <pre>${text}</pre>
          </details>`.markup
  }
}

interface Part {
  readonly kind: 'text' | 'call' | 'result'
  readonly title: string
  readonly text: string
}

interface Turn {
  readonly who: string
  readonly parts: readonly Part[]
}

async function* turnsIn(path: string): AsyncGenerator<Turn> {
  const chain = await openChain(path)
  try {
    for (let place = 0; place < chain.count; place++) {
      const entry = await shownAt(chain, place)
      const parts = entry ? partsOf(entry) : []
      if (entry && parts.length > 0) yield { who: whoOf(entry, parts), parts }
    }
  } finally {
    await chain.close()
  }
}

async function shownAt(chain: ChainReader, place: number): Promise<Entry | undefined> {
  const entry = await chain.entryAt(place)
  return entry && isShownEntry(entry) ? entry : undefined
}

function whoOf(entry: Entry, parts: readonly Part[]): string {
  if (entry.kind === 'boundary') return 'Compacted here'
  if (entry.kind === 'message' && entry.message.role === 'assistant') return 'Agent'
  return parts.every(({ kind }) => kind === 'result') ? 'Result' : 'You'
}

function partsOf(entry: Entry): readonly Part[] {
  if (entry.kind === 'boundary') {
    const { preTokens, postTokens } = entry.meta
    return [{ kind: 'text', title: '', text: `${preTokens} → ${postTokens ?? '?'} tokens` }]
  }
  if (entry.kind !== 'message') return []
  const blocks = toBlocks(entry.message.content)
  const isSaid = entry.message.role === 'user' && blocks.every((block) => !isBlock(block, 'tool_result'))
  if (isSaid) return [{ kind: 'text', title: '', text: toPrintable(saidText(entry)) }]
  return blocks.flatMap(partOf)
}

function partOf(block: Block): readonly Part[] {
  if (isBlock(block, 'text')) return [{ kind: 'text', title: '', text: toPrintable(block.text) }]
  if (isBlock(block, 'tool_use')) {
    const input = isJsonObject(block.input) ? block.input : {}
    const text = toPrintable(JSON.stringify(input, null, 2))
    return [{ kind: 'call', title: toolLabel(block.name, input), text }]
  }
  if (!isBlock(block, 'tool_result')) return []
  const text = toBlocks(block.content)
    .flatMap((part) => (isBlock(part, 'text') ? [part.text] : []))
    .join('\n')
  return [{ kind: 'result', title: 'Result', text: toPrintable(text) }]
}

/** A fence that nothing inside it can close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
