import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { isJsonObject, type Json, type JsonObject } from 'palimpsest/wire'
import { readPlainText } from 'palimpsest/node'

import { placeOwnFile } from '../../agent/files/place-own-file.ts'

// Windows that are smaller than the table says, as named by a refusal. Stored by model and endpoint, with the words of the refusal and its
// time, so that people can check; and with the largest request that was answered there, because the window cannot be smaller than that.

const NAME = 'learned-windows.json'
/** An entry takes a few hundred bytes; a larger file is not ours. */
const FILE_BYTES_MAX = 1_000_000
/** Longest stored text of a refusal, in characters. */
const SAID_CHARS_MAX = 300

/**
 * How long learned limits and answered sizes count. To forget a true limit costs one refused request a day, which no provider bills, and a
 * compaction that comes a little late. To keep a wrong one makes every request more expensive until then: servers restart with other
 * windows, gateways route to other models, and errors name wrong numbers.
 */
export const LIMIT_MS_MAX = 24 * 3_600_000

export interface KeptLimit {
  readonly tokens: number
  /** When the refusal came, in milliseconds. */
  readonly at: number
  /** What the refusal said. */
  readonly said: string
}

export interface Limits {
  readonly learned: { readonly [modelAndEndpoint: string]: KeptLimit }
  readonly answered: { readonly [modelAndEndpoint: string]: Pick<KeptLimit, 'tokens' | 'at'> }
}

const NOTHING: Limits = { learned: {}, answered: {} }

/** What still counts. A damaged or outdated file counts as empty: it is only a memory, and the next refusal renews it. */
export async function readLimits(home: string, now: number): Promise<Limits> {
  const path = join(home, NAME)
  try {
    const { size } = await stat(path)
    const value: unknown = size > FILE_BYTES_MAX ? undefined : JSON.parse(await readPlainText(path))
    if (!isJsonObject(value)) return NOTHING
    return {
      learned: youngIn(value['learned'], now, readKept),
      answered: youngIn(value['answered'], now, readSize),
    }
  } catch {
    return NOTHING
  }
}

export async function saveLimits(home: string, { learned, answered }: Limits): Promise<void> {
  const kept = Object.entries(learned).map(([key, { said, ...limit }]): [string, Json] => [
    key,
    { ...limit, said: said.slice(0, SAID_CHARS_MAX).toWellFormed() },
  ])
  const document: Json = { learned: Object.fromEntries(kept), answered: { ...answered } }
  await placeOwnFile(join(await realpath(home), NAME), Buffer.from(`${JSON.stringify(document)}\n`))
}

function youngIn<T extends { readonly at: number }>(
  value: Json | undefined,
  now: number,
  read: (value: JsonObject) => T | undefined,
): { readonly [key: string]: T } {
  const entries = Object.entries(isJsonObject(value) ? value : {}).flatMap(([key, one]): [string, T][] => {
    const kept = isJsonObject(one) ? read(one) : undefined
    // A future time means the clock was set back: such an entry would never expire.
    return kept && kept.at <= now && now - kept.at < LIMIT_MS_MAX ? [[key, kept]] : []
  })
  return Object.fromEntries(entries)
}

function readSize({ tokens, at }: JsonObject): Pick<KeptLimit, 'tokens' | 'at'> | undefined {
  const isSound = typeof tokens === 'number' && tokens > 0 && typeof at === 'number'
  return isSound ? { tokens, at } : undefined
}

function readKept(value: JsonObject): KeptLimit | undefined {
  const size = readSize(value)
  const { said } = value
  return size && typeof said === 'string' ? { ...size, said } : undefined
}
