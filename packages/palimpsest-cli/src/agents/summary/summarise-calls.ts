import { basename } from 'node:path'

import type { LoopEvent } from 'palimpsest/loop'
import { isBlock, toBlocks, type JsonObject } from 'palimpsest/wire'

import { toPrintable } from '../../agent/printable.ts'
import { commandWords, folderOf, searchWords, type CallWords } from './command-words.ts'

// What an agent is doing, in three to five words that name a thing, computed from its last calls without a model.

/** The words after an event, if they changed. */
export type SummariseCalls = (event: LoopEvent) => string | undefined

const CHARS_MAX = 60
/** After the verb. */
const WORDS_MAX = 4
const THING_CHARS_MAX = 32
/** Beside a file name. */
const SEARCH_CHARS_MAX = 18
/** Characters kept of a search result, to see whether a file that is read next was found by it. */
const FOUND_CHARS_MAX = 50_000

export function createCallSummary(): SummariseCalls {
  let together: readonly CallWords[] = []
  let found = { search: '', text: '' }
  return (event) => {
    // The calls of one answer belong together.
    if (event.type === 'message' && event.entry.message.role === 'assistant') together = []
    if (event.type === 'tool-end') {
      const search = together.find((words) => words.search !== undefined)?.search
      if (search !== undefined && isSearch(event.name)) found = { search, text: resultText(event) }
    }
    if (event.type !== 'tool-start') return undefined
    const words = callWords(event.name, event.input)
    if (words === undefined) return undefined
    together = [...together, words]
    return sentenceOf(together, found)
  }
}

function isSearch(tool: string): boolean {
  return tool === 'Grep' || tool === 'Bash'
}

/** Undefined: the call says nothing about the work. */
function callWords(name: string, input: JsonObject): CallWords | undefined {
  const text = (member: string): string => {
    const value = input[member]
    return typeof value === 'string' ? value.trim() : ''
  }
  const path = text('file_path')
  const file = { thing: basename(path) || 'a file', place: folderOf(path) }
  switch (name) {
    case 'Read':
      return { verb: 'Reading', ...file }
    case 'Write':
      return { verb: 'Writing', ...file }
    case 'Edit':
      return { verb: 'Editing', ...file }
    case 'Grep':
      return searchWords(text('pattern'), text('path') || undefined)
    case 'Glob':
      return { verb: 'Looking for', thing: `${text('pattern').split('/').at(-1) ?? ''} files` }
    case 'Bash':
      return commandWords(text('command'))
    case 'WebFetch':
      return { verb: 'Fetching a page from', thing: hostOf(text('url')) }
    case 'Recall':
      return { verb: 'Recalling', thing: text('query') === '' ? 'an earlier message' : text('query') }
    case 'Agent':
      return { verb: 'Waiting for an agent:', thing: text('description').split(/\s+/).slice(0, 3).join(' ') }
    case 'AskUser':
      return { verb: 'Waiting for', thing: 'your answer' }
    case 'TaskOutput':
    case 'TaskStop':
      return { verb: name === 'TaskStop' ? 'Ending' : 'Checking on', thing: text('task_id') }
    case 'TodoWrite':
    case 'ExitPlanMode':
      return undefined
    default:
      return { verb: 'Calling the tool', thing: name }
  }
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : 'the web'
}

function sentenceOf(
  together: readonly CallWords[],
  found: { readonly search: string; readonly text: string },
): string {
  const [first] = together
  const last = together.at(-1)
  if (!first || !last) return ''
  const alike = together.filter(({ verb }) => verb === last.verb)
  const [begin = last] = alike
  const thing = cut(begin.thing)
  if (alike.length > 1 && alike.some((one) => one.thing !== begin.thing))
    return finish(`${last.verb} ${thing} and ${alike.length - 1} more`)
  const isTraced = last.verb === 'Reading' && found.search !== '' && found.text.includes(last.thing)
  if (isTraced) return finish(`Tracing ${cut(found.search, SEARCH_CHARS_MAX)} in ${thing}`)
  if (last.place !== undefined && wordsOf(thing) < 3)
    return finish(`${last.verb} ${thing} in ${cut(last.place)}`)
  return finish(
    wordsOf(`${last.verb} ${thing}`) > 2 ? `${last.verb} ${thing}` : `${last.verb} the file ${thing}`,
  )
}

function wordsOf(text: string): number {
  return text.split(/\s+/).filter(Boolean).length
}

/** Long names keep their end, which tells them apart; of many words the first ones stay. */
function cut(text: string, charsMax = THING_CHARS_MAX): string {
  const words = text.split(/\s+/).slice(0, WORDS_MAX).join(' ')
  return words.length <= charsMax ? words : `…${words.slice(1 - charsMax)}`
}

function finish(text: string): string {
  return toPrintable(text).replaceAll(/\s+/g, ' ').slice(0, CHARS_MAX)
}

function resultText({ entry }: Extract<LoopEvent, { type: 'tool-end' }>): string {
  return toBlocks(entry.message.content)
    .flatMap((block) => (isBlock(block, 'tool_result') ? toBlocks(block.content) : []))
    .flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
    .join('\n')
    .slice(0, FOUND_CHARS_MAX)
}
