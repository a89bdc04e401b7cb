import { errorsOf } from '../../facts/facts-of.ts'
import { familyOf } from '../../facts/read-call.ts'
import type { View } from '../../transcript/view.ts'
import { resultText, type ClearableResult } from './results-in-view.ts'

/** Leaves out results of commands that failed and have not succeeded since: their words are needed until the failure is fixed. */
export function withoutEvidence(view: View, results: readonly ClearableResult[]): readonly ClearableResult[] {
  // Unsent results are not cleared, so before the first request there is no need to read the errors.
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

/** A long line was cut, so only its beginning is compared. */
function withoutEnd(text: string): string {
  return text.endsWith('…') ? text.slice(0, -1) : text
}
