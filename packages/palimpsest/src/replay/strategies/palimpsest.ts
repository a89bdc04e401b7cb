import {
  compactionPolicy,
  leftTokens,
  microPolicy,
  storagePolicy,
  type CompactionPolicy,
  type KeepStyle,
  type MicroPolicy,
} from '../../engine/limits.ts'
import { compactWithFold } from '../../engine/compact-with-fold.ts'
import { planEdit } from '../../engine/plan-edit.ts'
import type { Calibration } from '../../tokens/calibrate.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { View } from '../../transcript/view.ts'
import { storeLarge } from './store-large.ts'
import { NO_ACTIONS, type Actions, type Moment, type Strategy, type StrategySettings } from './strategy.ts'

// The engine's own layers together: large results are stored as they arrive, stale ones cleared when that pays, and when the window
// is full the conversation is compacted, with the summary that needs no model.

/** What is different from the engine as it is. */
export interface Ablation {
  readonly storesResults?: boolean
  readonly micro?: Partial<MicroPolicy['acts']>
  readonly compaction?: Partial<CompactionPolicy>
  readonly keep?: KeepStyle
  /** Each compaction asks a model for its summary: priced, though its words are not known. */
  readonly asksModel?: boolean
}

export function palimpsestWith(name: string, ablation: Ablation = {}): Strategy {
  return {
    name,
    recalls: true,
    create(settings) {
      const micro = microPolicy(settings.scale)
      const policies: Policies = {
        ...ablation,
        micro: { ...micro, acts: { ...micro.acts, ...ablation.micro } },
        compaction: { ...compactionPolicy(settings.scale, ablation.keep), ...ablation.compaction },
      }
      return { before: (view, moment) => plan(view, moment, settings, policies) }
    },
  }
}

export const palimpsest: Strategy = palimpsestWith('palimpsest')

/** The same where a compaction leaves more. */
export const palimpsestRich: Strategy = palimpsestWith('palimpsest-rich', { keep: 'rich' })

/** What each part contributes: the same without it. */
export const ABLATIONS: readonly Strategy[] = [
  palimpsestWith('palimpsest-no-storage', { storesResults: false }),
  palimpsestWith('palimpsest-no-cold', { micro: { cold: false } }),
  palimpsestWith('palimpsest-no-batch', { micro: { batch: false } }),
  palimpsestWith('palimpsest-no-pays', { micro: { pays: false } }),
  palimpsestWith('palimpsest-no-digest', { micro: { digest: false } }),
  palimpsestWith('palimpsest-no-snip', { micro: { snip: false } }),
  palimpsestWith('palimpsest-no-quotes', { compaction: { madeShare: 0 } }),
  palimpsestWith('palimpsest-tail-only', { compaction: { tailTokens: Infinity, tailShare: 1 } }),
  palimpsestWith('palimpsest+model', { asksModel: true }),
]

interface Policies extends Pick<Ablation, 'storesResults' | 'asksModel'> {
  readonly micro: MicroPolicy
  readonly compaction: CompactionPolicy
}

function plan(view: View, moment: Moment, settings: StrategySettings, policies: Policies): Actions {
  const stored =
    policies.storesResults === false ? [] : storeLarge(view, storagePolicy(settings.scale), moment, settings)
  if (stored.length > 0) return { entries: stored }
  return clear(view, moment, settings, policies) ?? compact(view, moment, settings, policies) ?? NO_ACTIONS
}

function clear(
  view: View,
  moment: Moment,
  settings: StrategySettings,
  { micro, compaction: compacting, asksModel = false }: Policies,
): Actions | undefined {
  const calibration: Calibration = { start: moment.toTokens(1), samples: [] }
  const { auto } = settings.thresholds
  const compaction = { leftTokens: leftTokens(compacting, auto, moment.hiddenTokens), asksModel }
  const planned = planEdit(
    view,
    { now: moment.now, sizeTokens: moment.sizeTokens, prefixTokens: moment.hiddenTokens, compaction },
    {
      facts: moment.facts,
      thresholds: settings.thresholds,
      micro,
      lifetime: moment.ttl,
      isMain: true,
      dropsWhenFull: false,
      thinking: moment.thinking,
      calibration,
    },
  )
  if (!planned) return undefined
  return { entries: [{ ...planned.edit, id: settings.newId(), parent: null, at: moment.now }] }
}

/** Undefined while there is room, or where nothing would leave the view. */
function compact(
  view: View,
  moment: Moment,
  settings: StrategySettings,
  { compaction, asksModel = false }: Policies,
): Actions | undefined {
  const { now, sizeTokens, hiddenTokens: prefixTokens, toTokens } = moment
  if (sizeTokens < settings.thresholds.auto) return undefined
  const bodies = compactWithFold(
    view,
    {
      sizeTokens,
      prefixTokens,
      scale: settings.scale,
      thresholds: settings.thresholds,
      thinking: moment.thinking,
      calibration: { start: toTokens(1), samples: [] },
      transcriptPath: TRANSCRIPT_PATH,
      policy: compaction,
    },
    settings.newId,
  )
  if (bodies.length === 0) return undefined
  const entries = bodies.map((body): Entry => ({
    ...body,
    id: body.id ?? settings.newId(),
    parent: null,
    at: now,
  }))
  return asksModel ? { entries, calls: [modelCall(settings)] } : { entries }
}

const TRANSCRIPT_PATH = '~/.palimpsest/projects/replayed/session.jsonl'

/** Of the prompt for a summary, and of the summary with its analysis, in a full-size window. */
const PROMPT_TOKENS = 1_200
const SUMMARY_TOKENS = 2_500

function modelCall({ scale }: StrategySettings): NonNullable<Actions['calls']>[number] {
  const outputTokens = Math.round(SUMMARY_TOKENS * scale)
  return { layer: 'compaction', promptTokens: PROMPT_TOKENS, outputTokens }
}
