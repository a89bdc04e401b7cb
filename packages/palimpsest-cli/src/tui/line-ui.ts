import { createInterface } from 'node:readline'

import { toPrintable } from '../agent/printable.ts'
import type { Console } from './console.ts'
import { lineText, type StyledLine } from './text/styled-line.ts'
import type { Question, Ui, UserAct } from './ui.ts'

// Lines and nothing else: no colours, no cursor, no key that means something by itself. For dumb terminals and screen readers.

export function openLines(console: Console): Ui {
  const reader = createInterface({ input: console.input, output: console.output, terminal: false })
  const lines: string[] = []
  let waiting: ((text: string | undefined) => void) | undefined
  let ended = false
  let interrupt: (() => void) | undefined
  let status = ''
  let shownStatus = ''
  let activity = ''
  const write = (text: string): void => console.write(`${text}\n`)
  const give = (text: string | undefined): void => {
    const taker = waiting
    waiting = undefined
    if (taker) taker(text)
    else if (text !== undefined) lines.push(text)
  }
  const read = async (): Promise<string | undefined> => {
    const known = lines.shift()
    if (known !== undefined || ended) return known
    return await new Promise((resolve) => {
      waiting = resolve
    })
  }
  const end = (): void => {
    ended = true
    interrupt?.()
    give(undefined)
  }
  const onInterrupt = (): void => (interrupt ? interrupt() : end())
  reader.on('line', give).on('close', end)
  process.on('SIGINT', onInterrupt)
  process.on('SIGHUP', end)
  const prompt = async (sign: string): Promise<string | undefined> => {
    console.write(sign)
    return await read()
  }
  return {
    columns: () => console.size().columns - 1,
    show: (shown) => write(shown.map(lineText).join('\n')),
    setLive: (parts) => {
      if (parts.status) status = lineText(parts.status)
      const before = activity
      activity = parts.activity ?? activity
      if (activity !== '' && activity !== before && activity.startsWith('Compacting')) write(`${activity}...`)
    },
    next: async () => {
      if (status !== shownStatus) write(`[${status}]`)
      shownStatus = status
      return toAct(await prompt('> '))
    },
    setInterrupt: (fresh) => {
      interrupt = fresh
    },
    pick: async (question, signal) => await pick(question, write, prompt, signal),
    ask: async (title) => {
      write(toPrintable(title))
      return await prompt('? ')
    },
    page: async (text) => console.write(text),
    setFiles: () => undefined,
    setHistory: () => undefined,
    setInput: (text) => write(toPrintable(text)),
    close: () => {
      process.off('SIGINT', onInterrupt)
      process.off('SIGHUP', end)
      reader.close()
      console.input.pause()
    },
  }
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
  const shown: readonly StyledLine[] = proposal
  write([toPrintable(title), ...shown.map(lineText)].join('\n'))
  write(items.map(({ label, letter }, place) => `  ${letter ?? place + 1}) ${label}`).join('\n'))
  const answer = (await prompt('? '))?.trim().toLowerCase() ?? ''
  if (signal?.aborted) return undefined
  return items.find(({ letter }, place) => answer === letter || answer === String(place + 1))?.value
}
