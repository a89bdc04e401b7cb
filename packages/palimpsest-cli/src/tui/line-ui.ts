import { createInterface } from 'node:readline'

import { toPrintable } from '../agent/printable.ts'
import type { Console } from './console.ts'
import type { PageSource } from './pager/page-source.ts'
import { COMPACTING, saidLines } from './screen/turn-lines.ts'
import { lineText, type StyledLine } from './text/styled-line.ts'
import type { Question, Ui, UserAct } from './ui.ts'

// Only lines: no colors, no cursor, no single keys. For dumb terminals and screen readers.

const WAYS = {
  toRemoved: '/context shows what was removed',
  toAll: '/export writes all',
  keys: [
    ['@path', 'attach a file or an image'],
    ['Enter', 'send'],
    ['Ctrl-C', 'interrupt; leave if nothing is running'],
  ],
} as const

export function openLines(console: Console, signal: AbortSignal): Ui {
  const reader = createReader(console, signal)
  let status = ''
  let shownStatus = ''
  let activity = ''
  let typed: string | undefined
  const write = (text: string): void => console.write(`${text}\n`)
  const prompt = async (sign: string): Promise<string | undefined> => {
    console.write(sign)
    return await reader.read()
  }
  const columns = (): number => console.size().columns - 1
  const show = (shown: readonly StyledLine[]): void => write(shown.map(lineText).join('\n'))
  return {
    ways: WAYS,
    columns,
    rows: () => console.size().rows,
    show,
    showSaid: (text) => {
      // What was typed at the prompt is on the screen already.
      if (text !== typed) show(saidLines(text, columns()))
      typed = undefined
    },
    setLive: (parts) => {
      if (parts.status) status = lineText(parts.status)
      const before = activity
      activity = parts.activity ?? activity
      if (activity !== '' && activity !== before && activity.startsWith(COMPACTING)) write(`${activity}...`)
    },
    setWritten: () => undefined,
    next: async () => {
      if (status !== shownStatus) write(`[${status}]`)
      shownStatus = status
      const isWaited = reader.isEmpty()
      const text = isWaited ? await prompt('> ') : await reader.read()
      typed = isWaited ? text : undefined
      return toAct(text)
    },
    setInterrupt: reader.setInterrupt,
    pick: async (question, signal) => await pick(question, write, prompt, signal),
    ask: async (title) => {
      write(toPrintable(title))
      return await prompt('? ')
    },
    page: async (source) => await writeAll(source, columns(), write),
    setPages: () => undefined,
    setModeKey: () => undefined,
    setBackgroundKey: () => undefined,
    setFiles: () => undefined,
    setHistory: () => undefined,
    addHistory: () => undefined,
    setInput: (text) => write(toPrintable(text)),
    close: reader.close,
  }
}

interface LineReader {
  /** No typed lines wait to be read. */
  readonly isEmpty: () => boolean
  /** Undefined: no more lines. */
  readonly read: () => Promise<string | undefined>
  readonly setInterrupt: (interrupt: (() => void) | undefined) => void
  readonly close: () => void
}

/** Lines as they are typed; lines typed early are kept. Ctrl-C interrupts what is running, and ends the reader if nothing is. */
function createReader({ input, output, takeInterrupts }: Console, signal: AbortSignal): LineReader {
  const reader = createInterface({ input, output, terminal: false })
  const lines: string[] = []
  /** The newest reader gets the next line: a question appears below the prompt. */
  const waiting: ((text: string | undefined) => void)[] = []
  let ended = false
  let interrupt: (() => void) | undefined
  const give = (text: string | undefined): void => {
    const taker = waiting.pop()
    if (taker) taker(text)
    else if (text !== undefined) lines.push(text)
  }
  const end = (): void => {
    ended = true
    interrupt?.()
    for (const taker of waiting.splice(0)) taker(undefined)
  }
  const onInterrupt = (): void => (interrupt ? interrupt() : end())
  reader.on('line', give).on('close', end)
  const giveBack = takeInterrupts(onInterrupt)
  process.on('SIGHUP', end)
  signal.addEventListener('abort', end)
  return {
    isEmpty: () => lines.length === 0,
    read: async () => {
      const known = lines.shift()
      if (known !== undefined || ended) return known
      return await new Promise((resolve) => void waiting.push(resolve))
    },
    setInterrupt: (fresh) => {
      interrupt = fresh
    },
    close: () => {
      giveBack()
      process.off('SIGHUP', end)
      signal.removeEventListener('abort', end)
      reader.close()
      input.pause()
    },
  }
}

async function writeAll(source: PageSource, columns: number, write: (text: string) => void): Promise<void> {
  for (let piece = 0; piece < source.count; piece++)
    write((await source.lines(piece, columns)).map(lineText).join('\n'))
  await source.close()
}

function toAct(text: string | undefined): UserAct {
  if (text === undefined) return { kind: 'quit' }
  if (text === '/rewind') return { kind: 'rewind' }
  return { kind: 'said', text }
}

/** By number or letter. Anything else is no choice. */
async function pick(
  { title, proposal = [], items }: Question,
  write: (text: string) => void,
  prompt: (sign: string) => Promise<string | undefined>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const shown: readonly StyledLine[] = typeof proposal === 'function' ? proposal() : proposal
  write([toPrintable(title), ...shown.map(lineText)].join('\n'))
  const choices = items.map(({ label, detail, letter }, place) => {
    const below = detail === undefined ? '' : `\n     ${detail}`
    return `  ${letter ?? place + 1}) ${label}${below}`
  })
  write(choices.join('\n'))
  const answer = (await prompt('? '))?.trim().toLowerCase() ?? ''
  if (signal?.aborted) return undefined
  return items.find(({ letter }, place) => answer === letter || answer === String(place + 1))?.value
}
