import type { World } from '../../world.ts'

// Servers that speak chat completions, by the word before the model's name: `ollama/qwen3:8b`. A table, because each has its own
// variables and its own address.

export interface ChatServer {
  /** Before the slash. */
  readonly name: string
  readonly standardUrl: string
  readonly urlVariable?: string
  readonly keyVariable?: string
  /** What is asked when nobody names a model; absent where only the user knows what the server has. */
  readonly standardModel?: string
  /** The command that starts it, where it runs on this machine. */
  readonly startCommand?: string
  /** What to know of it before trusting it with a long conversation. */
  readonly caution?: string
}

export const CHAT_SERVERS: readonly ChatServer[] = [
  {
    name: 'openai',
    standardUrl: 'https://api.openai.com/v1',
    urlVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
    standardModel: 'gpt-6.1-sol',
  },
  {
    name: 'gemini',
    standardUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariable: 'GEMINI_API_KEY',
    standardModel: 'gemini-4-argon',
  },
  {
    name: 'openrouter',
    standardUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
  },
  {
    name: 'ollama',
    standardUrl: 'http://127.0.0.1:11434/v1',
    urlVariable: 'OLLAMA_HOST',
    startCommand: 'ollama serve',
    caution:
      'Ollama cuts a prompt that exceeds its context without a word. Set PALIMPSEST_CONTEXT_TOKENS to what it was started with (OLLAMA_CONTEXT_LENGTH)',
  },
  {
    name: 'vllm',
    standardUrl: 'http://127.0.0.1:8000/v1',
    urlVariable: 'VLLM_BASE_URL',
    keyVariable: 'VLLM_API_KEY',
    startCommand: 'vllm serve MODEL',
  },
  {
    name: 'llamacpp',
    standardUrl: 'http://127.0.0.1:8080/v1',
    urlVariable: 'LLAMACPP_BASE_URL',
    keyVariable: 'LLAMA_API_KEY',
    startCommand: 'llama-server -m FILE',
  },
]

/** `openrouter/qwen/qwen3-coder`: the server, and the name it knows the model by. */
export function splitModel(
  named: string,
): { readonly server: ChatServer; readonly model: string } | undefined {
  const slash = named.indexOf('/')
  const server = CHAT_SERVERS.find(({ name }) => name === named.slice(0, slash))
  const model = named.slice(slash + 1)
  return server && model !== '' ? { server, model } : undefined
}

/** Which server a name asks; undefined where it names none. */
export function serverOf(named: string): string | undefined {
  return splitModel(named)?.server.name
}

/** The first one that the environment speaks of, by a key or an address. */
export function findServer(
  env: World['env'],
): { readonly server: ChatServer; readonly by: string } | undefined {
  for (const server of CHAT_SERVERS) {
    const by = [server.urlVariable, server.keyVariable].find((name) => name !== undefined && env[name])
    if (by !== undefined) return { server, by }
  }
  return undefined
}

/** Of a server on one's own machine often a host and a port alone, or the address to listen on. */
export function serverUrl(value: string, { name, standardUrl }: ChatServer): string {
  if (!standardUrl.startsWith('http://127.0.0.1')) return value
  if (name !== 'ollama' && /\/v\d+\/?$/.test(value)) return value
  const url = /^https?:\/\//.test(value) ? value : `http://${value}`
  const reachable = url.replace(/^(https?:\/\/)0\.0\.0\.0/, '$1127.0.0.1').replace(/(?<!\/)\/+$/, '')
  const withPort = /^http:\/\/[^/]+:\d+/.test(reachable) || reachable.startsWith('https:')
  return `${withPort ? reachable : `${reachable}:${new URL(standardUrl).port}`}/v1`
}
