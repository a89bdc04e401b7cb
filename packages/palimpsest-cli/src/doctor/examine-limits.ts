import { sentenceOf } from '../report-error.ts'
import { toPrintable } from '../agent/printable.ts'
import { LIMIT_MS_MAX, readLimits, saveLimits, type KeptLimit } from '../run/limits/limits-file.ts'
import type { World } from '../world.ts'
import type { Finding } from './finding.ts'

const HOUR_MS = 3_600_000
/** How much of the provider's words to show, in characters: the first ones name the numbers. */
const SAID_CHARS_MAX = 120

/** Windows learned from refusals: which, from what words, and how long they still count. */
export async function examineLimits(home: string, { now }: Pick<World, 'now'>): Promise<Finding[]> {
  const { learned } = await readLimits(home, now())
  const found = Object.entries(learned).map(([key, kept]): Finding => ({
    what: 'limits',
    state: 'note',
    text: `${describeLimit(key, kept)}: learned ${hours(now() - kept.at)} ago from "${shortened(kept.said)}", valid for another ${hours(kept.at + LIMIT_MS_MAX - now())}. \`palimpsest doctor --forget-limits\` forgets it`,
  }))
  return found.length > 0
    ? found
    : [{ what: 'limits', state: 'good', text: 'no provider has refused a request as too long' }]
}

/** Lines for the user: what is forgotten. */
export async function forgetLimits(home: string, { now }: Pick<World, 'now'>): Promise<readonly string[]> {
  const { learned } = await readLimits(home, now())
  const lines = Object.entries(learned).map(([key, kept]) => `forgotten: ${describeLimit(key, kept)}`)
  if (lines.length === 0) return ['nothing to forget: no provider has refused a request as too long']
  try {
    await saveLimits(home, { learned: {}, answered: {} })
    return lines
  } catch (error) {
    const why = sentenceOf(error)
    return [`nothing is forgotten, because the file could not be written: ${why}`]
  }
}

/** An address may hold a token; its host is enough. */
function describeLimit(key: string, { tokens }: KeptLimit): string {
  const space = key.lastIndexOf(' ')
  const endpoint = key.slice(space + 1)
  const place = URL.parse(endpoint)?.host ?? endpoint
  return `${toPrintable(key.slice(0, space))} at ${toPrintable(place)} accepts ${tokens.toLocaleString('en')} tokens`
}

function shortened(said: string): string {
  return toPrintable(said.length > SAID_CHARS_MAX ? `${said.slice(0, SAID_CHARS_MAX)}…` : said)
}

function hours(ms: number): string {
  const count = Math.round(ms / HOUR_MS)
  if (count < 1) return 'less than an hour'
  return count === 1 ? '1 hour' : `${count} hours`
}
