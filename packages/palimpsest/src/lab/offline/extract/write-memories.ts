import { visibleText } from '../visible-text.ts'
import type { SessionFacts } from './found-facts.ts'
import { sentencesOf } from './standing-words.ts'

// What may still matter in later conversations. It comes only from the user's own words, never from what tools said.

export type MemoryType = 'user' | 'feedback' | 'project' | 'reference'

export interface Memory {
  readonly type: MemoryType
  readonly name: string
  readonly text: string
}

/** The first match decides the type. */
const SIGNS: readonly (readonly [RegExp, MemoryType])[] = [
  [/https?:\/\/\S+|\b(?:dashboard|wiki|ticket|jira|slack|channel|runbook)\b/i, 'reference'],
  [
    /\b(?:never|always|don'?t|do not|from now on|prefer|avoid|stop|instead of|please use|must not)\b/i,
    'feedback',
  ],
  [/\bi(?:'m| am| work| use| like| know)\b|\bmy (?:role|team|name|job)\b/i, 'user'],
  [
    /\b(?:deadline|release|freeze|decided|we (?:use|chose|agreed|plan)|until|by (?:monday|tuesday|wednesday|thursday|friday|\d))\b/i,
    'project',
  ],
]
const SECRET = /\b(?:sk-|ghp_|AKIA|xox[bp]-)\w{8,}|-----BEGIN|\b(?:password|secret|token)\s*[:=]/i
const MEMORIES_MAX = 12
const NAME_WORDS_MAX = 6

export function findMemories({ requests }: SessionFacts): readonly Memory[] {
  const found = requests.flatMap(sentencesOf).flatMap((text): readonly Memory[] => {
    const type =
      text.endsWith('?') || SECRET.test(text) ? undefined : SIGNS.find(([sign]) => sign.test(text))?.[1]
    return type === undefined ? [] : [{ type, name: nameOf(text), text }]
  })
  return [...new Map(found.map((memory) => [memory.text.toLowerCase(), memory])).values()].slice(
    0,
    MEMORIES_MAX,
  )
}

/** One document per memory, in the form of memory files. */
export function writeMemories(facts: SessionFacts): string {
  const memories = findMemories(facts)
  if (memories.length === 0) return 'Nothing the user said is worth keeping for later conversations.'
  return memories
    .map(({ type, name, text }) => {
      const shown = visibleText(text)
      return `---\nname: ${name}\ndescription: ${shown}\ntype: ${type}\n---\n\n${shown}`
    })
    .join('\n\n')
}

function nameOf(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.slice(0, NAME_WORDS_MAX).join('-') || 'memory'
}
