import type { Origin } from '../../../transcript/entry.ts'
import { originOfUserText } from '../../../transcript/lines/foreign-origin.ts'
import type { Json, JsonObject, JsonText } from '../../../wire/json.ts'
import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import { parseMessage } from '../../../wire/parse.ts'
import { imageFromData } from './convert.ts'
import { objectField, textField, textsField } from './field.ts'

// Content that Claude Code gave the model on its own. The file has the content but not the sentence around it, so the message has only
// the recorded text, or the attachment's own JSON if there is no plain text.

/** Written for the screen or for bookkeeping; the model never saw them. */
const UNSEEN = new Set([
  'command_permissions',
  'dynamic_skill',
  'hook_cancelled',
  'hook_error_during_execution',
  'hook_non_blocking_error',
  'hook_permission_decision',
  'hook_system_message',
  'max_turns_reached',
  'structured_output',
])

/** Fields with an attachment's text, in the order to try. */
const TEXT_FIELDS = ['prompt', 'content', 'snippet', 'stdout', 'planContent', 'message'] as const

export interface ReadAttachment {
  readonly content: string | readonly Block[]
  readonly origin: Origin
  /** It waited in the queue like a message; the client did not add it to one. */
  readonly isQueued: boolean
}

/** Undefined if the model never saw it. `json` is the attachment's own text. */
export function readAttachment(attachment: JsonObject, json: JsonText): ReadAttachment | undefined {
  const type = textField(attachment, 'type') ?? ''
  if (UNSEEN.has(type)) return undefined
  const content = fileContent(attachment) ?? blockContent(attachment) ?? plainText(attachment) ?? json
  const isQueued = type === 'queued_command'
  return { content, origin: isQueued ? queuedOrigin(attachment, content) : originOf(type), isQueued }
}

function fileContent(attachment: JsonObject): string | readonly Block[] | undefined {
  const content = objectField(attachment, 'content')
  const file = objectField(content, 'file') ?? content
  const image = textField(file, 'base64')
  if (image !== undefined) return [imageFromData(image, textField(file, 'type'))]
  return textField(file, 'content') || undefined
}

function blockContent(attachment: JsonObject): readonly Block[] | undefined {
  const content: Json | undefined = attachment['prompt'] ?? attachment['content']
  if (!Array.isArray(content) || content.length === 0) return undefined
  const parsed = parseMessage({ role: 'user', content })
  return parsed.ok && Array.isArray(parsed.value.content) ? parsed.value.content : undefined
}

function plainText(attachment: JsonObject): string | undefined {
  for (const field of TEXT_FIELDS) {
    const text = textField(attachment, field) ?? textsField(attachment, field).join('\n')
    if (text) return text
  }
  return undefined
}

/** Mode of a queued command that is not the user's: the notice that a task ended. */
const NOTIFICATION_MODE = 'task-notification'

/** The queue contains prompts, and also notices of sub-agents and messages of other sessions. */
function queuedOrigin(attachment: JsonObject, content: ReadAttachment['content']): Origin {
  if (textField(attachment, 'commandMode') === NOTIFICATION_MODE) return 'tool'
  const text = toBlocks(content).find((block) => isBlock(block, 'text'))?.text ?? ''
  return originOfUserText(text, attachment['origin'])
}

function originOf(type: string): Origin {
  if (type.includes('hook')) return 'hook'
  if (type.includes('memor')) return 'memory'
  if (type.startsWith('mcp_resource')) return 'mcp'
  if (type.startsWith('teammate')) return 'peer'
  return type.includes('file') ? 'tool' : 'engine'
}
