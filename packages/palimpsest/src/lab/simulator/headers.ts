import { hashText } from '../../wire/hash.ts'
import { refuse, type Refusal } from './refusal.ts'
import type { Switches } from './switches.ts'

/** The two versions that clients send; the newer one removes a few request fields. */
export const API_VERSIONS = ['2023-06-01', '2026-10-21'] as const
export type ApiVersion = (typeof API_VERSIONS)[number]

/** Header names in lower case. */
export type HeaderRecord = { readonly [name: string]: string }

export interface Caller {
  readonly version: ApiVersion
  readonly betas: readonly string[]
  /** Represents the key; the key itself is not kept. */
  readonly account: string
  /** Callers with the same workspace share a prompt cache. */
  readonly workspace: string
  /** Which part of a client asks, in its own words. */
  readonly source: string
}

export const SOURCE_HEADER = 'x-palimpsest-source'
const DEFAULT_SOURCE = 'main'

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'x-api-key',
  'authorization',
  'cookie',
  'proxy-authorization',
])
/** The last characters of a secret stay, so that two keys can be told apart. */
const SECRET_TAIL_CHARS = 4

export interface HeaderPolicy {
  readonly switches: Pick<Switches, 'unknownBeta'>
  /** Accepted keys; without a list, any. */
  readonly keys?: readonly string[] | undefined
}

export function readCaller(headers: HeaderRecord, policy: HeaderPolicy): Caller | Refusal {
  const key = headers['x-api-key'] ?? bearerOf(headers['authorization'])
  if (!key) return refuse('http.auth-missing')
  if (policy.keys && !policy.keys.includes(key)) return refuse('http.auth-wrong')
  const asked = headers['anthropic-version']
  if (asked === undefined) return refuse('http.version-missing')
  const version = API_VERSIONS.find((known) => known === asked)
  if (!version) return refuse('http.version-unknown', { version: asked })
  const betas = splitList(headers['anthropic-beta'])
  const stranger = betas.find((beta) => !isKnownBeta(beta))
  if (stranger !== undefined && policy.switches.unknownBeta === 'refuse')
    return refuse('http.beta-unknown', { beta: stranger })
  const account = hashText(key).slice(0, 12)
  return {
    version,
    betas,
    account,
    workspace: headers['anthropic-workspace-id'] ?? account,
    source: headers[SOURCE_HEADER] ?? DEFAULT_SOURCE,
  }
}

export function maskSecrets(headers: HeaderRecord): HeaderRecord {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, SECRET_HEADERS.has(name) ? mask(value) : value]),
  )
}

/** Whether the caller sent a beta that begins with one of `prefixes`. */
export function hasBeta(betas: readonly string[], prefixes: readonly string[]): boolean {
  return betas.some((beta) => prefixes.some((prefix) => beta.startsWith(prefix)))
}

function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer\s+(\S+)$/i.exec(header)?.[1]
}

function splitList(header: string | undefined): readonly string[] {
  return (header ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function mask(value: string): string {
  const scheme = /^\w+ /.exec(value)?.[0] ?? ''
  const secret = value.slice(scheme.length)
  return secret.length <= 2 * SECRET_TAIL_CHARS
    ? `${scheme}***`
    : `${scheme}***${secret.slice(-SECRET_TAIL_CHARS)}`
}

/** Names of the published list, without their dates. */
const KNOWN_BETAS: ReadonlySet<string> = new Set([
  'message-batches',
  'prompt-caching',
  'computer-use',
  'pdfs',
  'token-counting',
  'token-efficient-tools',
  'output-128k',
  'output-300k',
  'files-api',
  'mcp-client',
  'mcp-tunnels',
  'dev-full-thinking',
  'interleaved-thinking',
  'code-execution',
  'extended-cache-ttl',
  'context-1m',
  'context-management',
  'model-context-window-exceeded',
  'skills',
  'fast-mode',
  'user-profiles',
  'advisor-tool',
  'managed-agents',
  'cache-diagnosis',
  'dreaming',
  'thinking-token-count',
  'server-side-fallback',
  'fallback-credit',
  'agent-memory',
  'mid-conversation-tool-changes',
  'mid-conversation-output-config',
  'mid-conversation-system-clear-at',
  'compact',
  'structured-outputs',
  'task-budgets',
  'thinking-display-updates',
  'thinking-binding-controls',
  'inline-tools',
  'message-threads',
])

function isKnownBeta(beta: string): boolean {
  return KNOWN_BETAS.has(beta.replace(/-\d{4}-\d{2}-\d{2}$/, ''))
}
