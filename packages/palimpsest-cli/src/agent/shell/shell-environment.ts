import { delimiter, isAbsolute } from 'node:path'

import { isInside } from '../paths/real-path.ts'

// The environment of the commands that the model runs. Our own keys stay with us.

export interface Environment {
  readonly [name: string]: string | undefined
}

/** Keys that the agent itself uses. A command that the user allowed is still no place for them. */
const KEYS = new Set([
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_IDENTITY_TOKEN',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'MISTRAL_API_KEY',
  'GROQ_API_KEY',
  'XAI_API_KEY',
  'DEEPSEEK_API_KEY',
  'OPENROUTER_API_KEY',
])

/** Nobody sits at a terminal: no pager, no editor, no questions; reading a repository writes no index. */
const FIXED = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
}

export function toShellEnvironment(env: Environment, cwd: string): { readonly [name: string]: string } {
  const kept = Object.entries(env).flatMap(([name, value]) =>
    // With CDPATH `cd src` may end anywhere.
    value === undefined || KEYS.has(name) || name === 'CDPATH' ? [] : [[name, value] as const],
  )
  const path = searchPath(env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', cwd)
  return { ...Object.fromEntries(kept), ...FIXED, PATH: path }
}

/** A project's own folder must not decide what `ls` is: its entries come last, relative ones not at all. */
function searchPath(path: string, cwd: string): string {
  const entries = path.split(delimiter).filter((entry) => isAbsolute(entry))
  const isOwn = (entry: string): boolean => isInside(cwd, entry)
  return [...entries.filter((entry) => !isOwn(entry)), ...entries.filter(isOwn)].join(delimiter)
}
