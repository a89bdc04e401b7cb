import type { ThinkingPolicy } from '../transcript/settle.ts'
import type { ModelFacts } from '../wire/model-facts.ts'

/** What a model requires of the messages sent to it. For an unknown model we assume nothing that could be refused. */
export function modelPolicy(model: string, facts: ModelFacts | undefined): ThinkingPolicy {
  return {
    model,
    bindsPrefix: facts?.thinking.bindsPrefix ?? true,
    readsFrom: facts?.thinking.readsFrom ?? [],
    dropsEarlierThinking: facts?.thinking.keptAcrossTurns === false,
    systemAsUser: !(facts?.capabilities.systemMessages ?? false),
    compactionAsText: !(facts?.capabilities.onDemandCompaction ?? false),
  }
}
