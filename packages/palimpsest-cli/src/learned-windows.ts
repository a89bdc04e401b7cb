import { readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import type { ProviderFailure } from 'palimpsest'
import type { LearnedLimit, LearnLimit } from 'palimpsest/loop'
import { NO_MODELS, withLearnedLimit, type Models } from 'palimpsest/tokens'
import { isJsonObject, parseModelName, type Json } from 'palimpsest/wire'

import { placeOwnFile } from './agent/files/place-own-file.ts'
import type { WindowReading } from './window-settings.ts'

// Windows that are smaller than the table says: a refusal named them. Kept for the next run, by model and endpoint.

const NAME = 'learned-windows.json'
/** One line a model and endpoint; more is none of ours. */
const FILE_BYTES_MAX = 1_000_000

/** What was learned before. A file that is damaged counts as none: it is only a memory, and the next refusal renews it. */
export async function readLearned(home: string): Promise<Models> {
  const path = join(home, NAME)
  try {
    const { size } = await stat(path)
    const value: unknown = size > FILE_BYTES_MAX ? undefined : JSON.parse(await readFile(path, 'utf8'))
    return { ...NO_MODELS, learned: isJsonObject(value) ? limitsIn(value) : {} }
  } catch {
    return NO_MODELS
  }
}

export interface LimitLearner {
  readonly home: string
  readonly model: string
  readonly endpoint: string
  /** The window as it is with what was learned. */
  readonly readingWith: (models: Models) => WindowReading
  /** From now on it is so. */
  readonly learned: (reading: WindowReading, models: Models) => void
  readonly report: (problem: string) => void
}

export function createLearnLimit(learner: LimitLearner): LearnLimit {
  const { home, endpoint, readingWith } = learner
  const { id: model } = parseModelName(learner.model)
  return async (failure, sentTokens) => {
    const overflow = overflowOf(failure)
    if (!overflow) return undefined
    // Others may have learned meanwhile.
    const before = await readLearned(home)
    const models = withLearnedLimit(before, { model, endpoint }, overflow, sentTokens)
    const [was, is] = [readingWith(before), readingWith(models)]
    if (models === before || was.window.window === is.window.window) return undefined
    await save(home, models).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      learner.report(`the window of ${model} could not be noted for the next run: ${why}`)
    })
    learner.learned(is, models)
    return toldAs(model, is)
  }
}

function overflowOf(failure: ProviderFailure) {
  if (failure.kind !== 'context-overflow') return undefined
  const { kind: _, ...numbers } = failure
  return { kind: 'input' as const, ...numbers }
}

function toldAs(model: string, { thresholds, window }: WindowReading): LearnedLimit {
  const notice = `The window of ${model} here is ${window.window.toLocaleString('en')} tokens, as the provider says: from now on that counts.`
  const { scale, effective: effectiveTokens, window: windowTokens } = window
  return { thresholds, scale, effectiveTokens, windowTokens, notice }
}

async function save(home: string, { learned }: Models): Promise<void> {
  const document: Json = { learned: { ...learned } }
  await placeOwnFile(join(await realpath(home), NAME), Buffer.from(`${JSON.stringify(document)}\n`))
}

function limitsIn({ learned }: { readonly [key: string]: Json | undefined }): Models['learned'] {
  const limits = Object.entries(isJsonObject(learned) ? learned : {})
  return Object.fromEntries(
    limits.filter((limit): limit is [string, number] => typeof limit[1] === 'number' && limit[1] > 0),
  )
}
