import { factsOf } from '../../facts/facts-of.ts'
import { familyOf } from '../../facts/read-call.ts'
import type { View } from '../../transcript/view.ts'
import { resultText, type ClearableResult } from './results-in-view.ts'

/** Whether a result says how a command failed that has not run well since: as long as it is to be mended, its words are needed. */
export function evidenceIn(view: View): (result: ClearableResult) => boolean {
  const failed = factsOf(view).errors.filter(({ tool }) => familyOf(tool) === 'shell')
  const told = new Map<string, string[]>()
  for (const { entry, text } of failed) told.set(entry, [...(told.get(entry) ?? []), withoutEnd(text)])
  return ({ node, result }) => {
    const texts = (view.nodes[node - 1]?.entries ?? []).flatMap((entry) => told.get(entry) ?? [])
    return texts.some((text) => resultText(result).includes(text))
  }
}

/** A long line is known by its beginning. */
function withoutEnd(text: string): string {
  return text.endsWith('…') ? text.slice(0, -1) : text
}
