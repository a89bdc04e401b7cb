import { UsageError } from 'palimpsest'
import type { RecallHit } from 'palimpsest/recall'

import type { Command, CommandInput } from './command.ts'
import { DONE, type ExitCode, type World } from '../world.ts'

export const recall: Command = {
  name: 'recall',
  usage: '[QUERY] [options]',
  summary: "search this project's conversations, and quote them word for word",
  options: {
    session: { type: 'string' },
    all: { type: 'boolean' },
    id: { type: 'string' },
    file: { type: 'string' },
    since: { type: 'string' },
    until: { type: 'string' },
    limit: { type: 'string' },
    scan: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  wordsMax: Infinity,
  run: runRecall,
}

const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

async function runRecall({ flags, words }: CommandInput, world: World): Promise<ExitCode> {
  const { searchStored } = await import('../recall/search-stored.ts')
  const { toPrintable, toPrintableJson } = await import('../agent/printable.ts')
  const text = (name: string): string | undefined => {
    const value = flags[name]
    return typeof value === 'string' ? value : undefined
  }
  if (flags['all'] === true && text('session') !== undefined)
    throw new UsageError(
      'recall: --all searches every session of the project, --session only one. Use one of the two',
    )
  if (text('id') !== undefined && (words.length > 0 || text('session') !== undefined))
    throw new UsageError(
      'recall: --id prints one message, result or removal. Use it without search words and without --session',
    )
  const found = await searchStored(
    {
      query: words.join(' '),
      limit: limitOf(flags['limit']),
      id: text('id'),
      session: text('session'),
      file: text('file'),
      since: timeOf('since', text('since')),
      until: timeOf('until', text('until')),
      scansAll: flags['scan'] === true,
    },
    world,
  )
  for (const notice of found.notices) world.printError(`palimpsest: ${toPrintable(notice)}\n`)
  if (flags['json'] === true) world.print(`${toPrintableJson(found.hits.map(toRow))}\n`)
  else world.print(toPrintable(found.hits.map(toText).join('\n')))
  return DONE
}

/** One row of `palimpsest recall --json`. */
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

/** A day counts from its beginning, or until its end. */
function timeOf(flag: 'since' | 'until', text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const at = Date.parse(isDay && flag === 'until' ? `${text}T23:59:59.999Z` : text)
  if (!Number.isNaN(at)) return at
  throw new UsageError(
    `--${flag} "${text}": give a day or a time, for example 2026-01-31 or 2026-01-31T12:00Z`,
  )
}

function limitOf(text: string | boolean | undefined): number {
  if (typeof text !== 'string') return LIMIT_DEFAULT
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit
  throw new UsageError(`--limit "${text}": give a whole number from 1 to ${LIMIT_MAX}`)
}
