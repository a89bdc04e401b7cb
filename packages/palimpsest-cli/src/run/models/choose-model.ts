import { UsageError, type StreamModel } from 'palimpsest'
import { findAgentModel } from 'palimpsest/agents'
import { createAiSdkModel } from 'palimpsest/providers/ai-sdk'
import {
  createAnthropicModel,
  createListModels,
  type AnthropicOptions,
  type ListModels,
} from 'palimpsest/providers/anthropic'
import { createOfflineModel, OFFLINE_MODEL } from 'palimpsest/providers/offline'
import { NO_MODELS, resolveModel } from 'palimpsest/tokens'
import { EXTENDED_WINDOW_BETA, isClaudeId, parseModelName, toModelName } from 'palimpsest/wire'

import { chooseEndpoint, type Endpoint } from '../../agent/settings/choose-endpoint.ts'
import type { Settings } from '../../agent/settings/settings-shape.ts'
import { shownUrl, urlName } from '../../agent/settings/shown-url.ts'
import { urlProblem } from '../../agent/settings/url-problem.ts'
import type { World } from '../../world.ts'
import { CHAT_SERVERS, findServer, serverUrl, splitModel, type ChatServer } from './chat-servers.ts'

const STANDARD_URL = 'https://api.anthropic.com'
/** The model to ask if a key is set and no model is named. */
const STANDARD_MODEL = 'claude-opus-5-5'
/** Sent instead of a key to an address that only a project named. */
const NO_KEY = 'no-key'

export interface ChosenModel {
  /** The name the provider uses. */
  readonly model: string
  /** The name the user gave; a `[1m]` suffix asks for the extended window. */
  readonly named: string
  readonly streamModel: StreamModel
  /** Lists the endpoint's models. Absent if the endpoint cannot. */
  readonly listModels?: ListModels
  /** Names the place, in files too: limits learned there belong to it. */
  readonly endpoint: string
  /** Its address, for people. Absent if there is none. */
  readonly address?: string
  /** Which endpoint it asks and where that came from, in a few words. */
  readonly about: string
  readonly notices: readonly string[]
  /** What the provider does not promise, for places where the user looks it up. */
  readonly cautions: readonly string[]
}

export interface ModelWishes {
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  readonly settings: Settings
  /** Only the user's own settings. */
  readonly userSettings: Settings
}

/**
 * Offline if there is neither a key nor an address, or if the user asks for it. A server's name before the model's name selects that
 * server. Otherwise Anthropic, if its key or address is set; otherwise the first server with a key or address in the environment.
 */
export function chooseModel(wishes: ModelWishes, { env }: Pick<World, 'env'>): ChosenModel {
  const given = wishes.model ?? env['PALIMPSEST_MODEL'] ?? wishes.settings.model
  if (given === undefined) return withName(chooseFor(undefined, wishes, env), false)
  const { id, extended } = parseModelName(given)
  return withName(chooseFor(id, wishes, env), extended)
}

function withName(chosen: Unnamed, extended: boolean): ChosenModel {
  const { model, notices } = chosen
  if (!extended) return { ...chosen, named: model }
  const { capabilities, contextWindow } = resolveModel(NO_MODELS, model, '').facts
  const named = toModelName(model, [EXTENDED_WINDOW_BETA])
  if (capabilities.extendedWindow !== undefined) return { ...chosen, named }
  const isLarge = contextWindow >= EXTENDED_TOKENS
  const ignored = `${model} has no extended window: [1m] is ignored`
  return { ...chosen, named: model, notices: isLarge ? notices : [...notices, ignored] }
}

type Unnamed = Omit<ChosenModel, 'named'>

const EXTENDED_TOKENS = 1_000_000

function chooseFor(named: string | undefined, wishes: ModelWishes, env: World['env']): Unnamed {
  if (named === OFFLINE_MODEL) return offline(OFFLINE_DOES, [])
  const asked = named === undefined ? undefined : splitModel(named)
  if (asked) return chat(asked.server, asked.model, wishes, env)
  const endpoint = anthropicEndpoint(wishes, env)
  if (endpoint || env['ANTHROPIC_API_KEY'] || env['ANTHROPIC_AUTH_TOKEN'])
    return anthropic(inFamily(named) ?? STANDARD_MODEL, endpoint, wishes, env)
  const found = findServer(env)
  const model = found && (named ?? openaiModel(found.server, env))
  if (found && model !== undefined) return chat(found.server, model, wishes, env)
  return offline(
    found ? OFFLINE_DOES : OFFLINE_ABOUT,
    found
      ? [
          `${found.by} is set, but no model is named: choose one with /model, or with --model ${found.server.name}/NAME`,
        ]
      : named === undefined
        ? []
        : [`${named} needs a key or a base URL; the offline model answers. ${accessTo(named)}`],
  )
}

/** How to reach a model that was asked for by name. */
function accessTo(named: string): string {
  if (isClaudeId(named) || findAgentModel(named, STANDARD_MODEL) !== undefined)
    return 'Set ANTHROPIC_API_KEY or --base-url.'
  const servers = CHAT_SERVERS.map(({ name }) => name).join(', ')
  return `If another service has it, put the name of the service first, as in openai/NAME (${servers}).`
}

/** `sonnet` means the newest of its family, as in other agents. */
function inFamily(named: string | undefined): string | undefined {
  return named === undefined ? undefined : (findAgentModel(named, STANDARD_MODEL) ?? named)
}

/** Services whose keys are in the environment, each with the model to ask if none is named. */
export function offeredByKeys(env: World['env']): readonly { readonly name: string; readonly by: string }[] {
  const own = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].find((name) => env[name])
  const others = CHAT_SERVERS.flatMap(({ name, standardModel, keyVariable }) =>
    keyVariable !== undefined && env[keyVariable] && standardModel !== undefined
      ? [{ name: `${name}/${standardModel}`, by: keyVariable }]
      : [],
  )
  return [...(own === undefined ? [] : [{ name: STANDARD_MODEL, by: own }]), ...others]
}

/** What a new user must know: what offline mode cannot do, and how to get a model. */
const OFFLINE_DOES = 'offline: it quotes from your files, and writes no code'
const OFFLINE_ABOUT = `${OFFLINE_DOES}. To ask a model, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY`

function openaiModel({ name, standardModel }: ChatServer, env: World['env']): string | undefined {
  if (name !== 'openai') return standardModel
  // At another address we cannot know which models there are.
  return env['OPENAI_MODEL'] || (env['OPENAI_BASE_URL'] ? undefined : standardModel)
}

function anthropicEndpoint(wishes: ModelWishes, env: World['env']): Endpoint | undefined {
  const { settings, userSettings } = wishes
  return chooseEndpoint({
    flag: goodUrl('--base-url', wishes.baseUrl),
    environment:
      goodUrl('PALIMPSEST_BASE_URL', env['PALIMPSEST_BASE_URL']) ??
      goodUrl('ANTHROPIC_BASE_URL', env['ANTHROPIC_BASE_URL']),
    settings,
    userSettings,
    standard: STANDARD_URL,
  })
}

function anthropic(
  model: string,
  endpoint: Endpoint | undefined,
  wishes: ModelWishes,
  env: World['env'],
): Unnamed {
  const mayCarryKeys = endpoint?.mayCarryKeys ?? true
  const given = ['PALIMPSEST_BASE_URL', 'ANTHROPIC_BASE_URL'].find((name) => env[name])
  const options = {
    ...(mayCarryKeys ? keyOf(env) : withoutKeys(env)),
    baseUrl: endpoint?.url,
    reachCure: reachCure(wishes, given ?? 'PALIMPSEST_BASE_URL'),
    ...timesOf(wishes),
  }
  const url = endpoint?.url ?? STANDARD_URL
  const key = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].find((name) => env[name])
  return {
    model,
    streamModel: createAnthropicModel(options),
    listModels: createListModels(options),
    endpoint: urlName(url),
    address: shownUrl(url),
    about: `asks ${shownUrl(url)}${mayCarryKeys && key !== undefined ? ` with ${key}` : ''}`,
    notices: mayCarryKeys ? bothKeys(env) : [withoutKey(url)],
    cautions: [],
  }
}

/** The name keeps the server's name before it, so that the session finds its way back there. */
function chat(server: ChatServer, model: string, wishes: ModelWishes, env: World['env']): Unnamed {
  const { urlVariable = '', keyVariable = '', standardUrl, name, caution } = server
  const given = env[urlVariable]
  const endpoint = chooseEndpoint({
    flag: goodUrl('--base-url', wishes.baseUrl),
    environment:
      goodUrl(urlVariable, given ? serverUrl(given, server) : undefined) ??
      goodUrl('PALIMPSEST_BASE_URL', env['PALIMPSEST_BASE_URL']),
    settings: wishes.settings,
    userSettings: wishes.userSettings,
    standard: standardUrl,
  }) ?? { url: standardUrl, mayCarryKeys: true }
  const apiKey = endpoint.mayCarryKeys ? env[keyVariable] : undefined
  const prefix = `${name}/`
  return {
    model: `${prefix}${model}`,
    streamModel: createAiSdkModel({
      baseUrl: endpoint.url,
      modelName: (full) => (full.startsWith(prefix) ? full.slice(prefix.length) : full),
      keyCure: keyVariable === '' ? 'Check the base URL.' : `Set ${keyVariable} to a valid key.`,
      reachCure: reachCure(wishes, urlVariable || 'PALIMPSEST_BASE_URL', server.startCommand),
      apiKey: apiKey || undefined,
      ...timesOf(wishes),
    }),
    endpoint: urlName(endpoint.url),
    address: shownUrl(endpoint.url),
    about: `asks ${shownUrl(endpoint.url)}${apiKey ? ` with ${keyVariable}` : ''}; caching is up to the server`,
    notices: [
      ...(endpoint.mayCarryKeys || !env[keyVariable] ? [] : [withoutKey(endpoint.url)]),
      ...missingKey(server, endpoint.url, env),
      ...(caution === undefined || env['PALIMPSEST_CONTEXT_TOKENS'] ? [] : [caution]),
    ],
    cautions: [CHAT_CACHING],
  }
}

/** For an address on this machine where nothing listens. */
function reachCure({ baseUrl }: ModelWishes, variable: string, startCommand?: string): string {
  const start = startCommand === undefined ? 'Start the server' : `Start it with \`${startCommand}\``
  return `${start}, or set ${baseUrl === undefined ? variable : '--base-url'} to where it is.`
}

const SECOND_MS = 1_000

function timesOf({ settings }: ModelWishes): Required<Pick<AnthropicOptions, 'times'>> {
  const { silentSeconds, stuckSeconds, wholeSeconds } = settings.answers
  const inMs = (seconds: number | undefined): number | undefined => seconds && seconds * SECOND_MS
  return {
    times: {
      silentMsMax: inMs(silentSeconds),
      stuckMsMax: inMs(stuckSeconds),
      wholeMsMax: inMs(wholeSeconds),
    },
  }
}

const CHAT_CACHING =
  'chat completions have no breakpoints and no lifetimes: prefixes stay byte-identical, and the server alone decides what to cache'

/** A server on this machine, or at an address that the user chose, may need none. */
function missingKey(
  { keyVariable = '', standardUrl, startCommand }: ChatServer,
  url: string,
  env: World['env'],
): readonly string[] {
  if (env[keyVariable] || startCommand !== undefined || url !== standardUrl) return []
  return [`${keyVariable} is not set, and ${shownUrl(url)} needs it. Set it to your key.`]
}

function withoutKey(url: string): string {
  return `${shownUrl(url)} was chosen by the project, so it gets no key. To send one, pass the address with --base-url.`
}

type Keys = Pick<AnthropicOptions, 'apiKey' | 'authToken' | 'headers'>

/** One of the two: the provider accepts only one. */
function keyOf(env: World['env']): Keys {
  const apiKey = env['ANTHROPIC_API_KEY']
  const authToken = env['ANTHROPIC_AUTH_TOKEN']
  if (apiKey) return { apiKey }
  return authToken ? { authToken } : { apiKey: NO_KEY }
}

function bothKeys(env: World['env']): readonly string[] {
  if (!env['ANTHROPIC_API_KEY'] || !env['ANTHROPIC_AUTH_TOKEN']) return []
  return [
    'ANTHROPIC_API_KEY and ANTHROPIC_AUTH_TOKEN are both set; Palimpsest uses the key. Unset one of them.',
  ]
}

/** The provider's client adds headers from its environment, and these may hold keys too. */
function withoutKeys(env: World['env']): Keys {
  const lines = (env['ANTHROPIC_CUSTOM_HEADERS'] ?? '').split('\n')
  const names = lines.flatMap((line) => (line.includes(':') ? [line.slice(0, line.indexOf(':')).trim()] : []))
  return { apiKey: NO_KEY, headers: Object.fromEntries(names.map((name) => [name, null])) }
}

/** A variable set to the empty string counts as not set. */
function goodUrl(name: string, url: string | undefined): string | undefined {
  if (url === undefined || (url === '' && !name.startsWith('--'))) return undefined
  const problem = urlProblem(url)
  if (problem === undefined) return url
  throw new UsageError(`${name} "${shownUrl(url)}" ${problem}`)
}

function offline(about: string, notices: readonly string[]): Unnamed {
  return {
    model: OFFLINE_MODEL,
    streamModel: createOfflineModel(),
    endpoint: 'offline',
    about,
    notices,
    cautions: [],
  }
}
