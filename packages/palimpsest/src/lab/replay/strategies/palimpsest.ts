import {
  compactionPolicy,
  type CompactionPolicy,
  type KeepStyle,
} from '../../../layers/4-compaction/policy.ts'
import { microPolicy } from '../../../layers/2-micro-compaction/policy.ts'
import { storagePolicy } from '../../../layers/1-tool-results/policy.ts'
import type { SwitchName } from '../../../flags/flags.ts'
import { createEngineRun } from './engine-moments.ts'
import type { BackgroundCall, Strategy, StrategySettings } from './strategy.ts'

// The engine as it is, and variants without some of its parts.

/** How a variant differs from the engine as it is. */
export interface Ablation {
  readonly off?: readonly SwitchName[]
  readonly on?: readonly SwitchName[]
  readonly compaction?: Partial<CompactionPolicy>
  readonly keep?: KeepStyle
  /** Each compaction asks a model for its summary: the call is priced, but its words are unknown. */
  readonly asksModel?: boolean
  /** Where a summary says that the full transcript is. Default: a path of typical length. */
  readonly transcriptPath?: string
}

const TRANSCRIPT_PATH = '~/.palimpsest/projects/replayed/session.jsonl'

export function palimpsestWith(name: string, ablation: Ablation = {}): Strategy {
  const {
    off = [],
    on = [],
    keep,
    compaction,
    asksModel = false,
    transcriptPath = TRANSCRIPT_PATH,
  } = ablation
  return {
    name,
    recalls: true,
    create(settings) {
      const policies = {
        storage: storagePolicy(settings.scale),
        micro: microPolicy(settings.scale),
        compaction: { ...compactionPolicy(settings.scale, keep), ...compaction },
        off,
        on,
        transcriptPath,
        ...(asksModel && { call: modelCall(settings) }),
      }
      return createEngineRun(settings, policies)
    },
  }
}

export const palimpsest: Strategy = palimpsestWith('palimpsest')

/** The same, but a compaction leaves more. */
export const palimpsestRich: Strategy = palimpsestWith('palimpsest-rich', { keep: 'rich' })

/** Show what each part contributes: the same engine without it. */
export const ABLATIONS: readonly Strategy[] = [
  palimpsestWith('palimpsest-no-storage', { off: ['tool-result-storage'] }),
  palimpsestWith('palimpsest-no-cold', { off: ['micro-cold'] }),
  palimpsestWith('palimpsest-no-batch', { off: ['micro-batch'] }),
  palimpsestWith('palimpsest-no-pays', { off: ['micro-batch-pays'] }),
  palimpsestWith('palimpsest-no-digest', { off: ['micro-digest'] }),
  palimpsestWith('palimpsest-no-snip', { off: ['micro-snip'] }),
  palimpsestWith('palimpsest-no-excerpts', { compaction: { excerptShare: 0, smallExcerptShare: 0 } }),
  palimpsestWith('palimpsest-tail-only', { compaction: { tailTokens: Infinity, tailShare: 1 } }),
  palimpsestWith('palimpsest+model', { asksModel: true }),
].map((strategy) => ({ ...strategy, isVariant: true }))

/** Sizes of the prompt for a summary, and of the summary with its analysis, in a full-size window. */
const PROMPT_TOKENS = 1_200
const SUMMARY_TOKENS = 2_500

function modelCall({ scale }: StrategySettings): BackgroundCall {
  const outputTokens = Math.round(SUMMARY_TOKENS * scale)
  return { layer: 'compaction', promptTokens: PROMPT_TOKENS, outputTokens }
}
