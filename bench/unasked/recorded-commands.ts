import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { RECORDED_DATA } from '../../test/kit/recorded.ts'

// Every shell command of the recorded sessions, with the folder it was given in. Of the four formats only what is needed here.

export interface RecordedCommand {
  readonly command: string
  /** The folder of the session. */
  readonly cwd: string
}

export function recordedCommands(): readonly RecordedCommand[] {
  const paths = globSync('sessions*/*/*/*.{json,jsonl}', { cwd: RECORDED_DATA })
  return paths.toSorted().flatMap((path) => commandsOf(readFileSync(join(RECORDED_DATA, path), 'utf8')))
}

function commandsOf(text: string): readonly RecordedCommand[] {
  const found: RecordedCommand[] = []
  let cwd = '/work'
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit)
    if (!isRecord(value) || Array.isArray(value)) return
    const here = value['cwd'] ?? value['directory']
    if (typeof here === 'string' && here.startsWith('/')) cwd = here
    const command = commandIn(value)
    if (command !== undefined) found.push({ command, cwd })
    Object.values(value).forEach(visit)
  }
  for (const document of documentsOf(text)) visit(document)
  return found
}

/** One document, or one a line; lines that are none are passed over. */
function documentsOf(text: string): readonly unknown[] {
  const whole = parsed(text)
  return whole === undefined ? text.split('\n').flatMap((line) => parsed(line) ?? []) : [whole]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function commandIn(value: { readonly [key: string]: unknown }): string | undefined {
  switch (value['type']) {
    case 'tool_use':
      return lineOf(value['input'])
    case 'toolCall':
      return lineOf(value['arguments'])
    case 'function_call':
    case 'local_shell_call': {
      const given = value['arguments']
      return lineOf(typeof given === 'string' ? parsed(given) : given)
    }
    case 'tool':
      return isRecord(value['state']) ? lineOf(value['state']['input']) : undefined
    default:
      return undefined
  }
}

function lineOf(input: unknown): string | undefined {
  if (!isRecord(input)) return undefined
  const given = input['command'] ?? input['cmd']
  if (typeof given === 'string') return given
  if (!Array.isArray(given)) return undefined
  const words = given.filter((word) => typeof word === 'string')
  const isShell = words.length > 2 && /(^|\/)(bash|zsh|sh)$/.test(words[0] ?? '')
  return isShell ? words[2] : words.join(' ')
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
