import { UsageError, type StreamModel } from 'palimpsest'
import { createAnthropicModel, type AnthropicOptions } from 'palimpsest/providers/anthropic'
import { createOfflineModel, OFFLINE_MODEL } from 'palimpsest/providers/offline'

import { chooseEndpoint } from '../agent/settings/choose-endpoint.ts'
import type { Settings } from '../agent/settings/load-settings.ts'
import { urlProblem, withoutPassword } from '../agent/settings/url-problem.ts'
import type { World } from '../world.ts'

const STANDARD_URL = 'https://api.anthropic.com'
/** What is asked when a key is there and nobody named a model. */
const STANDARD_MODEL = 'claude-opus-5-5'
/** An address that only a project named gets this instead of a key. */
const NO_KEY = 'no-key'

export interface ChosenModel {
  readonly model: string
  readonly streamModel: StreamModel
  /** Names the place: limits learned there belong to it. */
  readonly endpoint: string
  readonly notices: readonly string[]
}

export interface ModelWishes {
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  readonly settings: Settings
  /** The user's own settings alone. */
  readonly userSettings: Settings
}

/** Offline where neither a key nor an address is there, or where it is asked for. */
export function chooseModel(wishes: ModelWishes, { env }: Pick<World, 'env'>): ChosenModel {
  const { settings, userSettings } = wishes
  const apiKey = env['ANTHROPIC_API_KEY']
  const authToken = env['ANTHROPIC_AUTH_TOKEN']
  const endpoint = chooseEndpoint({
    flag: goodUrl('--base-url', wishes.baseUrl),
    environment:
      goodUrl('PALIMPSEST_BASE_URL', env['PALIMPSEST_BASE_URL']) ??
      goodUrl('ANTHROPIC_BASE_URL', env['ANTHROPIC_BASE_URL']),
    settings,
    userSettings,
    standard: STANDARD_URL,
  })
  const named = wishes.model ?? env['PALIMPSEST_MODEL'] ?? settings.model
  if (named === OFFLINE_MODEL || (!endpoint && !apiKey && !authToken)) return offline(named)
  const mayCarryKeys = endpoint?.mayCarryKeys ?? true
  const streamModel = createAnthropicModel({
    ...(mayCarryKeys ? keyOf(env) : withoutKeys(env)),
    ...(endpoint ? { baseUrl: endpoint.url } : {}),
  })
  const notices = mayCarryKeys
    ? bothKeys(env)
    : [`${endpoint?.url} was chosen by the project: it gets no key. --base-url makes it yours.`]
  return { model: named ?? STANDARD_MODEL, streamModel, endpoint: endpoint?.url ?? STANDARD_URL, notices }
}

type Keys = Pick<AnthropicOptions, 'apiKey' | 'authToken' | 'headers'>

/** One of the two: the provider takes no more. */
function keyOf(env: World['env']): Keys {
  const apiKey = env['ANTHROPIC_API_KEY']
  const authToken = env['ANTHROPIC_AUTH_TOKEN']
  if (apiKey) return { apiKey }
  return authToken ? { authToken } : { apiKey: NO_KEY }
}

function bothKeys(env: World['env']): readonly string[] {
  if (!env['ANTHROPIC_API_KEY'] || !env['ANTHROPIC_AUTH_TOKEN']) return []
  return ['ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN are both set: the key is used. Unset one of them.']
}

/** The provider's client adds headers from its environment, and they may hold keys too. */
function withoutKeys(env: World['env']): Keys {
  const lines = (env['ANTHROPIC_CUSTOM_HEADERS'] ?? '').split('\n')
  const names = lines.flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':')).trim()] : []))
  return { apiKey: NO_KEY, headers: Object.fromEntries(names.map((name) => [name, null])) }
}

/** A variable that is set to nothing is not set. */
function goodUrl(name: string, url: string | undefined): string | undefined {
  if (url === undefined || (url === '' && !name.startsWith('--'))) return undefined
  const problem = urlProblem(url)
  if (problem === undefined) return url
  throw new UsageError(`${name} "${withoutPassword(url)}" ${problem}`)
}

function offline(named: string | undefined): ChosenModel {
  const asked = named !== undefined && named !== OFFLINE_MODEL
  const notices = asked
    ? [`${named} needs a key or a base URL; the offline model answers. Set ANTHROPIC_API_KEY or --base-url.`]
    : []
  return { model: OFFLINE_MODEL, streamModel: createOfflineModel(), endpoint: 'offline', notices }
}
