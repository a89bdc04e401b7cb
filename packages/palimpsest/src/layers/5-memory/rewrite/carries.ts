import { distinctiveWords, isName } from '../../../facts/distinctive-words.ts'
import { memoryText, type Memory } from '../memory.ts'
import { isNegative } from '../similar-memories.ts'
import { withAbsoluteDates } from './absolute-dates.ts'

/** Share of a fact's words that must be said again for it to be kept. Names must all be said. */
const KEPT_SHARE_MIN = 0.8
/** Share of a fact's words that another must have to be about it. */
const TOPIC_SHARE_MIN = 0.5

/** Whether one memory still says what the other said. */
export function carries(one: Memory, fact: Memory): boolean {
  if (isNegative(memoryText(one)) !== isNegative(memoryText(fact))) return false
  const said = distinctiveWords(memoryText(one))
  const text = memoryText(fact)
  return [text, withAbsoluteDates(text, Date.parse(fact.created))].some((form) => {
    const words = [...distinctiveWords(form)]
    const missing = words.filter((word) => !said.has(word))
    return !missing.some(isName) && missing.length <= words.length * (1 - KEPT_SHARE_MIN)
  })
}

/** Whether both are about the same thing. */
export function shareTopic(a: Memory, b: Memory): boolean {
  const [left, right] = [distinctiveWords(memoryText(a)), distinctiveWords(memoryText(b))]
  const met = [...left].filter((word) => right.has(word)).length
  return met > 0 && met >= Math.min(left.size, right.size) * TOPIC_SHARE_MIN
}
