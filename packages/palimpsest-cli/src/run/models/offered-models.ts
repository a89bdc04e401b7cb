import { connect } from 'node:net'

import type { ListModels } from 'palimpsest/providers/anthropic'
import { OFFLINE_MODEL } from 'palimpsest/providers/offline'
import { findModelFacts, isJsonObject, MODEL_FACTS, type JsonObject, type Vendor } from 'palimpsest/wire'

import type { World } from '../../world.ts'
import { CHAT_SERVERS, serverUrl, type ChatServer } from './chat-servers.ts'

// Which models can be asked from here: those in the table whose key is set, those the provider lists, and those that servers on this
// machine list at their usual ports. A key goes only to its own server, and no redirect is followed with it.

export interface OfferedModel {
  /** The name that `--model` accepts. */
  readonly name: string
  readonly windowTokens?: number | undefined
  /** Dollars per million tokens. */
  readonly inputUsd?: number | undefined
  readonly outputUsd?: number | undefined
}

export interface OfferPlace extends Pick<World, 'env'> {
  /** Lists the models of the Messages API in use. */
  readonly listModels?: ListModels | undefined
}

const LOCAL_MS_MAX = 600
const REMOTE_MS_MAX = 3_000
const BODY_CHARS_MAX = 4_000_000

export async function offerModels(place: OfferPlace, signal: AbortSignal): Promise<readonly OfferedModel[]> {
  const { env } = place
  const hasAnthropic =
    place.listModels !== undefined || hasKey(env, 'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN')
  const lists = await Promise.all([
    hasAnthropic ? askAnthropic(place.listModels, signal) : [],
    ...CHAT_SERVERS.map(async (server) => await askServer(server, env, signal)),
  ])
  const known = [
    ...(hasAnthropic ? inTable('anthropic', '') : []),
    ...(hasKey(env, 'OPENAI_API_KEY') ? inTable('openai', 'openai/') : []),
    ...(hasKey(env, 'GEMINI_API_KEY') ? inTable('google', 'gemini/') : []),
  ]
  const all = [...known, ...lists.flat(), { name: OFFLINE_MODEL }]
  return all.filter(({ name }, place) => all.findIndex((one) => one.name === name) === place)
}

/** The models of servers on this machine that answer. Needs no key. */
export async function findLocalModels(
  env: World['env'],
  signal: AbortSignal,
): Promise<readonly OfferedModel[]> {
  const local = CHAT_SERVERS.filter(isLocal)
  return (await Promise.all(local.map(async (server) => await askServer(server, env, signal)))).flat()
}

function hasKey(env: World['env'], ...names: readonly string[]): boolean {
  return names.some((name) => Boolean(env[name]))
}

function isLocal({ standardUrl }: ChatServer): boolean {
  return standardUrl.startsWith('http://127.0.0.1')
}

function inTable(vendor: Vendor, prefix: string): readonly OfferedModel[] {
  return MODEL_FACTS.filter((facts) => facts.vendor === vendor).map(({ id }) => withFacts(prefix, id))
}

function withFacts(prefix: string, id: string, told: JsonObject = {}): OfferedModel {
  const facts = findModelFacts(id)
  const [price] = facts?.prices ?? []
  const pricing = isJsonObject(told['pricing']) ? told['pricing'] : {}
  return {
    name: `${prefix}${id}`,
    windowTokens: countIn(told['context_length']) ?? countIn(told['max_model_len']) ?? facts?.contextWindow,
    inputUsd: perMillion(pricing['prompt']) ?? price?.input,
    outputUsd: perMillion(pricing['completion']) ?? price?.output,
  }
}

async function askAnthropic(
  listModels: ListModels | undefined,
  signal: AbortSignal,
): Promise<readonly OfferedModel[]> {
  if (!listModels) return []
  const within = AbortSignal.any([signal, AbortSignal.timeout(REMOTE_MS_MAX)])
  const list = await listModels(within).catch(() => undefined)
  return list?.kind === 'list' ? modelsIn(list.body, '') : []
}

/** A server that does not answer in time offers nothing; the user can still name its model. */
async function askServer(
  server: ChatServer,
  env: World['env'],
  signal: AbortSignal,
): Promise<readonly OfferedModel[]> {
  const { urlVariable = '', keyVariable = '', standardUrl, name } = server
  const given = env[urlVariable]
  const key = env[keyVariable]
  if (!given && !key && !isLocal(server)) return []
  const msMax = isLocal(server) ? LOCAL_MS_MAX : REMOTE_MS_MAX
  const url = given ? serverUrl(given, server) : standardUrl
  if (isLocal(server) && !(await listens(url))) return []
  try {
    const response = await fetch(`${url}/models`, {
      headers: key ? { authorization: `Bearer ${key}` } : {},
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(msMax)]),
    })
    const text = response.ok ? await response.text() : ''
    return text === '' || text.length > BODY_CHARS_MAX ? [] : modelsIn(JSON.parse(text), `${name}/`)
  } catch {
    return []
  }
}

/** Checks with a plain socket first: usually nothing listens, and loading `fetch` to find that out would delay the start. */
async function listens(address: string): Promise<boolean> {
  const url = URL.parse(address)
  if (!url || url.protocol !== 'http:') return true
  return await new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 80) })
    const done = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => done(true)).once('error', () => done(false))
    socket.setTimeout(LOCAL_MS_MAX, () => done(false))
  })
}

function modelsIn(body: unknown, prefix: string): readonly OfferedModel[] {
  const data = isJsonObject(body) && Array.isArray(body['data']) ? body['data'] : []
  return data.filter(isJsonObject).flatMap((told) => {
    const { id } = told
    // Gemini puts a folder before the id.
    return typeof id === 'string' && id !== '' ? [withFacts(prefix, id.replace(/^models\//, ''), told)] : []
  })
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}

const MILLION = 1_000_000

/** OpenRouter states dollars per token, as a string. */
function perMillion(value: unknown): number | undefined {
  const usd = typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isFinite(usd) && usd >= 0 ? usd * MILLION : undefined
}
