import type { World } from '../../world.ts'

// Servers that speak chat completions, by the word before the model's name: `ollama/qwen3:8b`. This is a table because each server has its
// own variables and its own address.

export interface ChatServer {
  /** The word before the slash. */
  readonly name: string
  readonly standardUrl: string
  readonly urlVariable?: string
  readonly keyVariable?: string
  /** The model to ask if none is named; absent if only the user knows what the server has. */
  readonly standardModel?: string
  /** The command that starts the server, if it runs on this machine. */
  readonly startCommand?: string
  /** What to know before trusting the server with a long conversation. */
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
      'Ollama silently cuts a prompt that exceeds its context. Set PALIMPSEST_CONTEXT_TOKENS to the context that it was started with (OLLAMA_CONTEXT_LENGTH)',
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

/** `openrouter/qwen/qwen3-coder`: the server, and the model's name on that server. */
export function splitModel(
  named: string,
): { readonly server: ChatServer; readonly model: string } | undefined {
  const slash = named.indexOf('/')
  const server = CHAT_SERVERS.find(({ name }) => name === named.slice(0, slash))
  const model = named.slice(slash + 1)
  return server && model !== '' ? { server, model } : undefined
}

/** The server that a name asks; undefined if it names none. */
export function serverOf(named: string): string | undefined {
  return splitModel(named)?.server.name
}

/** The first server that has a key or an address in the environment. */
export function findServer(
  env: World['env'],
): { readonly server: ChatServer; readonly by: string } | undefined {
  for (const server of CHAT_SERVERS) {
    const by = [server.urlVariable, server.keyVariable].find((name) => name !== undefined && env[name])
    if (by !== undefined) return { server, by }
  }
  return undefined
}

/** For a local server the value is often only a host and a port, or the address to listen on. */
export function serverUrl(value: string, { name, standardUrl }: ChatServer): string {
  if (!standardUrl.startsWith('http://127.0.0.1')) return value
  if (name !== 'ollama' && /\/v\d+\/?$/.test(value)) return value
  const url = /^https?:\/\//.test(value) ? value : `http://${value}`
  const reachable = url.replace(/^(https?:\/\/)0\.0\.0\.0/, '$1127.0.0.1').replace(/(?<!\/)\/+$/, '')
  const withPort = /^http:\/\/[^/]+:\d+/.test(reachable) || reachable.startsWith('https:')
  return `${withPort ? reachable : `${reachable}:${new URL(standardUrl).port}`}/v1`
}
