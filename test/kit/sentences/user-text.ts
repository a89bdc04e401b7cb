import type { Entry } from '../../../packages/palimpsest/src/transcript/entry.ts'
import { isBlock, toBlocks } from '../../../packages/palimpsest/src/wire/message.ts'

// What the user wrote, out of what a recorded session has in the user's place. There the clients also put notices, names of commands,
// messages of other agents, and plans that the agent wrote and the user only accepted.

export interface UserMessage {
  readonly entry: string
  readonly text: string
}

export function userMessages(entries: readonly Entry[]): UserMessage[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'message' || entry.origin !== 'user' || entry.part !== undefined) return []
    if (entry.message.role !== 'user') return []
    const texts = toBlocks(entry.message.content).flatMap((block) =>
      isBlock(block, 'text') ? [userText(block.text)] : [],
    )
    const text = texts.filter((one) => one !== '').join('\n\n')
    return text === '' ? [] : [{ entry: entry.id, text }]
  })
}

/** Empty where the client wrote all of it. */
export function userText(text: string): string {
  const bare = text.trim()
  if (WHOLE_MESSAGES.some((form) => form.test(bare))) return ''
  return ENCLOSED.reduce((rest, form) => rest.replaceAll(form, ''), bare.replace(CODEX_FILES, ''))
    .replaceAll(/<\/?command-args>/g, '')
    .trim()
}

/** Messages that a client wrote, by how they begin. */
const WHOLE_MESSAGES: readonly RegExp[] = [
  /^\[Request interrupted by user/,
  /^<(?:task-notification|bash-input|teammate-message)\b/,
  /^Another Claude session sent a message:/,
  /^Operation stopped by hook:/,
  // The plan is the agent's own; the client sends it when the user accepts it.
  /^Implement the following plan:\n/,
  /^PLEASE IMPLEMENT THIS PLAN:\n/,
]

/** Parts that a client put around the user's words. Of a command, the arguments are the user's. */
const ENCLOSED: readonly RegExp[] = [
  'system_instruction',
  'system-instruction',
  'system-reminder',
  'ide_opened_file',
  'ide_selection',
  'command-name',
  'command-message',
].map((tag) => new RegExp(`<${tag}>[\\s\\S]*?</${tag}>`, 'g'))

/** The list of attached files that Codex puts before the request. */
const CODEX_FILES = /^# Files mentioned by the user:[\s\S]*?\n## My request for Codex:\n/
