import { isJsonObject, type JsonObject } from '../../wire/json.ts'
import { isBlock, toBlocks, type WireMessage } from '../../wire/message.ts'
import type { Origin } from '../entry.ts'

// Who wrote a message that another client recorded. Clients also put the words of programs, hooks and other agents in the user's place;
// standing instructions come only from the user's own words, so none of those may count as the user's.

export function foreignOrigin(line: JsonObject, message: WireMessage): Origin {
  if (message.role === 'assistant') return 'model'
  const blocks = toBlocks(message.content)
  if (blocks.some((block) => block.type === 'tool_result')) return 'tool'
  if (line['isCompactSummary'] === true || message.role === 'system') return 'engine'
  const texts = blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : []))
  const said = originOfUserText(texts[0] ?? '', line['origin'])
  return said === 'user' && line['isMeta'] === true ? 'engine' : said
}

/** Origin of a text in the user's place: by what the line says about its sender, otherwise by how the text begins. */
export function originOfUserText(text: string, sender?: unknown): Origin {
  const kind = isJsonObject(sender) ? sender['kind'] : undefined
  const written = FORMS.find(({ form }) => form.test(text))?.origin
  if (typeof kind !== 'string' || kind === HUMAN) return written ?? 'user'
  return SENDERS.get(kind) ?? written ?? 'engine'
}

/** The only sender whose words are the user's. An unknown sender is not trusted. */
const HUMAN = 'human'

const SENDERS: ReadonlyMap<string, Origin> = new Map([
  ['task-notification', 'tool'],
  ['peer', 'peer'],
  ['hook', 'hook'],
])

/** A message that begins like this was inserted as a whole. A message that quotes such a text further down is the user's. */
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
