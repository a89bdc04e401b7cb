import { isJsonObject, type JsonObject } from 'palimpsest/wire'

import { parseJsonObject } from '../files/parse-json-object.ts'
import type { HookEnd } from './run-hook.ts'

// The meaning of a hook's end. Exit code 0: done; 2: it objects; any other: it failed, which stops nothing. A stdout that begins with `{`
// is an answer in JSON, whatever the exit code; any other is plain text.

export interface HookAnswer {
  /** Why it objects. Absent: it does not. */
  readonly objection?: string
  /** Plain text, or `additionalContext`. */
  readonly text?: string | undefined
  /** For the user. */
  readonly notice?: string | undefined
}

const OBJECTS = 2
/** Longest part of an error output that is shown. */
const REASON_CHARS_MAX = 500

export function answerOf(name: string, end: HookEnd): HookAnswer {
  switch (end.kind) {
    case 'timed-out':
      return { notice: `the hook ${name} took too long and was stopped` }
    case 'broken':
      return { notice: `the hook ${name} did not run: ${end.message}` }
    case 'exited':
      return exitAnswer(name, end)
    default:
      return end satisfies never
  }
}

function exitAnswer(
  name: string,
  { code, stdout, stderr }: Extract<HookEnd, { kind: 'exited' }>,
): HookAnswer {
  const json = jsonIn(stdout)
  const said = stderr.trim().slice(0, REASON_CHARS_MAX)
  if (code === OBJECTS) return { objection: said === '' ? `the hook ${name} objects` : said }
  if (json) return jsonAnswer(name, json)
  if (code !== 0) return { notice: `the hook ${name} failed with exit code ${code}${said && `: ${said}`}` }
  const text = stdout.trim()
  return text === '' ? {} : { text }
}

function jsonAnswer(name: string, json: JsonObject): HookAnswer {
  const specific = isJsonObject(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {}
  const text = textOf(specific, 'additionalContext') ?? textOf(json, 'additionalContext')
  const notice = textOf(json, 'systemMessage')
  return {
    ...(json['decision'] === 'block' && { objection: textOf(json, 'reason') ?? `the hook ${name} objects` }),
    text,
    notice,
  }
}

function jsonIn(stdout: string): JsonObject | undefined {
  // What only looks like JSON counts as text.
  return stdout.trimStart().startsWith('{') ? parseJsonObject(stdout) : undefined
}

function textOf(from: JsonObject, key: string): string | undefined {
  const value = from[key]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
