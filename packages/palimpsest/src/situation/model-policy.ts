import type { ThinkingPolicy } from '../transcript/settle.ts'
import type { ModelFacts } from '../wire/model-facts.ts'

/** What a model asks of the messages sent to it. Of an unknown model nothing is assumed that could be refused. */
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
