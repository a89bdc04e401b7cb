import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import { isBlock, toBlocks, type WireMessage } from '../../wire/message.ts'
import type { Origin } from '../entry.ts'

// Who wrote a message that another client recorded. In the user's place clients also put what programs, hooks and other agents say;
// standing instructions are found in the user's words alone, so none of that may pass for them.

export function foreignOrigin(line: JsonObject, message: WireMessage): Origin {
  if (message.role === 'assistant') return 'model'
  const blocks = toBlocks(message.content)
  if (blocks.some((block) => block.type === 'tool_result')) return 'tool'
  if (line['isCompactSummary'] === true || message.role === 'system') return 'engine'
  const texts = blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  const said = originOfUserText(texts[0] ?? '', line['origin'])
  return said === 'user' && line['isMeta'] === true ? 'engine' : said
}

/** Of a text in the user's place: by what the line says of its sender, where it does, and else by how it begins. */
export function originOfUserText(text: string, sender?: unknown): Origin {
  const kind = isJsonObject(sender) ? sender['kind'] : undefined
  const written = FORMS.find(({ form }) => form.test(text))?.origin
  if (typeof kind !== 'string' || kind === HUMAN) return written ?? 'user'
  return SENDERS.get(kind) ?? written ?? 'engine'
}

/** The only sender whose words are the user's. One that is not known here is none of ours to trust. */
const HUMAN = 'human'

const SENDERS: ReadonlyMap<string, Origin> = new Map([
  ['task-notification', 'tool'],
  ['peer', 'peer'],
  ['hook', 'hook'],
])

/** A message that begins so was put there whole. One that quotes it further down is the user's. */
const FORMS: readonly { readonly form: RegExp; readonly origin: Origin }[] = [
  {
    form: /^\s*<(?:local-command-stdout|local-command-stderr|bash-stdout|bash-stderr|task-notification)\b/,
    origin: 'tool',
  },
  {
    form: /^\s*(?:Another Claude session sent a message:|<(?:teammate|agent|cross-session)-message\b)/,
    origin: 'peer',
  },
  {
    form: /^\s*(?:Operation stopped by hook:|Stop hook feedback:|<(?:user-prompt-submit|session-start)-hook\b)/,
    origin: 'hook',
  },
  { form: /^\s*\[SYSTEM NOTIFICATION\b/, origin: 'engine' },
]
