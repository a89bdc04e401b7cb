import { UsageError } from 'palimpsest'
import type { RecallHit } from 'palimpsest/recall'

import type { Command, CommandInput } from './command.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export const recall: Command = {
  name: 'recall',
  usage: 'QUERY [--session ID|FILE] [--limit N] [--json]',
  summary: "searches all that ever stood in this project's conversations, and quotes it word for word",
  options: { session: { type: 'string' }, limit: { type: 'string' }, json: { type: 'boolean' } },
  wordsMax: Infinity,
  run: runRecall,
}

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

async function runRecall({ flags, words }: CommandInput, world: World): Promise<ExitCode> {
  const { searchStored } = await import('../recall/search-stored.ts')
  const { toPrintable, toPrintableJson } = await import('../agent/printable.ts')
  const { session } = flags
  const found = await searchStored(
    {
      query: words.join(' '),
      limit: limitOf(flags['limit']),
      ...(typeof session === 'string' ? { session } : {}),
    },
    world,
  )
  for (const notice of found.notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
  if (flags['json'] === true) world.print(`${toPrintableJson(found.hits.map(toRow))}\n`)
  else world.print(toPrintable(found.hits.map(toText).join('\n')))
  return DONE
}

/** One of the shape of `palimpsest recall --json`. */
function toRow({ id, session, at, kind, quote, before, after, score }: RecallHit): object {
  return { id, session, at: isoTime(at), kind, quote, before, after, score }
}

function toText({ id, session, at, kind, quote, before, after }: RecallHit): string {
  const around = (text: string): string => (text === '' ? '' : `${indented(text, '  ')}\n`)
  const head = [isoTime(at) ?? 'unknown time', session, id, kind].join('  ')
  return `${head}\n${around(before)}${indented(quote, '> ')}\n${around(after)}`
}

function indented(text: string, mark: string): string {
  return text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n')
}

function isoTime(at: number): string | null {
  return Number.isNaN(at) ? null : new Date(at).toISOString()
}

function limitOf(text: string | boolean | undefined): number {
  if (typeof text !== 'string') return LIMIT_DEFAULT
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw new UsageError(`--limit "${text}": a whole number from 1 to ${LIMIT_MAX}`)
}
