import { basename } from 'node:path'

import type { JsonObject } from 'palimpsest/wire'

// What an agent is at, in three to five words, computed from its newest call: no model is asked.

const VERBS: { readonly [tool: string]: readonly [verb: string, member: string] } = {
  Read: ['Reading', 'file_path'],
  Write: ['Writing', 'file_path'],
  Edit: ['Editing', 'file_path'],
  Grep: ['Searching for', 'pattern'],
  Glob: ['Listing', 'pattern'],
  Bash: ['Running', 'command'],
  WebFetch: ['Fetching', 'url'],
  Agent: ['Starting', 'description'],
  Recall: ['Recalling', 'query'],
}

const WORDS_MAX = 3
const CHARS_MAX = 40

export function summariseCall(name: string, input: JsonObject): string {
  const [verb, member] = VERBS[name] ?? ['Calling', '']
  const value = input[member]
  const subject = typeof value === 'string' && value.trim() !== '' ? value : name
  const isPath = member === 'file_path'
  const words = (isPath ? basename(subject) : subject).trim().split(/\s+/).slice(0, WORDS_MAX).join(' ')
  return `${verb} ${words.slice(0, CHARS_MAX)}`
}
