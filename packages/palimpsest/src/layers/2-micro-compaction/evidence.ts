import { errorsOf } from '../../facts/facts-of.ts'
import { familyOf } from '../../facts/read-call.ts'
import type { View } from '../../transcript/view.ts'
import { resultText, type ClearableResult } from './results-in-view.ts'

/** Left out: results that say how a command failed that has not run well since. As long as it is to be mended, their words are needed. */
export function withoutEvidence(view: View, results: readonly ClearableResult[]): readonly ClearableResult[] {
  // None of these is cleared yet: what was said need not be read for it before the first request.
  if (!results.some(({ sent }) => sent)) return results
  const failed = errorsOf(view).filter(({ tool }) => familyOf(tool) === 'shell')
  if (failed.length === 0) return results
  const told = new Map<string, string[]>()
  for (const { entry, text } of failed) told.set(entry, [...(told.get(entry) ?? []), withoutEnd(text)])
  return results.filter(({ node, result }) => {
    const texts = (view.nodes[node - 1]?.entries ?? []).flatMap((entry) => told.get(entry) ?? [])
    return !texts.some((text) => resultText(result).includes(text))
  })
}

/** A long line is known by its beginning. */
function withoutEnd(text: string): string {
  return text.endsWith('…') ? text.slice(0, -1) : text
}
