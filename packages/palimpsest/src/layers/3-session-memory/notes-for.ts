import type { NotesLimits } from '../../background/keepers.ts'
import { lastSent } from '../../situation/last-sent.ts'
import { factsOf } from '../../facts/facts-of.ts'
import { computedNotes } from './computed.ts'
import { cutSections } from './cut-sections.ts'
import { notesDue, notesInView } from './plan.ts'
import { notesPrompt } from './prompt.ts'
import { isBare, withoutTemplate } from './template.ts'
import { factorOf } from '../../tokens/calibrate.ts'
import { estimateText } from '../../tokens/estimate.ts'
import type { EntryId } from '../../transcript/entry.ts'
import { offersRecall, recallOf } from '../../transcript/recall-tool.ts'
import { settle } from '../../transcript/settle.ts'
import type { View } from '../../transcript/view.ts'

// Notes of a conversation, as the engine's callers need them: whether a model should write some now, and what they say as a summary.

export interface NotesPolicy {
  readonly template: string
  /** The user's own prompt for notes. */
  readonly prompt?: string | undefined
  readonly eager: boolean
  readonly scale: number
}

export interface NotesWish {
  readonly prompt: string
  /** The last message that a request has carried: the notes will cover up to here. */
  readonly upTo: EntryId
  readonly why: string
}

/** What the notes say now, at no cost. */
export function notesWithoutModel(view: View, template: string): string {
  return computedNotes(factsOf(view), template)
}

/** Undefined if none are due, or nothing was sent yet. `written`: notes that someone wrote, used if none are in view. */
export function notesWish(
  view: View,
  at: 'response' | 'turn-end',
  limits: NotesLimits,
  policy: NotesPolicy & { readonly written?: string | undefined },
): NotesWish | undefined {
  const upTo = lastSent(view)
  if (upTo === undefined) return undefined
  const factor = factorOf(limits.calibration)
  const why = notesDue(view, {
    at,
    ...limits,
    rawBefore: settle(view, limits.thinking).tokens,
    toTokens: (raw) => raw * factor,
    scale: policy.scale,
    eager: policy.eager,
  })
  if (why === undefined || (!policy.eager && limits.isSpared?.())) return undefined
  const { template, scale, prompt, written } = policy
  const notes = notesInView(view)?.entry.text ?? written ?? notesWithoutModel(view, template)
  const text = notesPrompt({ template, notes, scale, custom: prompt })
  const isFitting = limits.sizeTokens + factor * estimateText(text) < limits.blockingTokens
  return isFitting ? { prompt: text, upTo, why } : undefined
}

/** Notes that can be the summary, and the first node that they do not cover. */
export function usableNotes(
  view: View,
  policy: Pick<NotesPolicy, 'template' | 'scale'>,
  whole: string,
): { readonly text: string; readonly rest: number } | undefined {
  const found = notesInView(view)
  if (!found || isBare(found.entry.text, policy.template)) return undefined
  const text = withoutTemplate(found.entry.text, policy.template)
  const where = offersRecall(view.prefix) ? recallOf(found.entry.id) : whole
  return { text: cutSections(text, policy.scale, where), rest: found.node + 1 }
}
