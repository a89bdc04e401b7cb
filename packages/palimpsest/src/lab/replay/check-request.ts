import { DEFAULT_SWITCHES } from '../simulator/switches.ts'
import { shapeRequest } from '../simulator/validate/request-shape.ts'
import { validateRequest } from '../simulator/validate/validate.ts'
import type { ViewBlock } from '../../transcript/view-block.ts'
import type { ViewNode } from '../../transcript/view.ts'
import { isJsonObject } from '../../wire/json.ts'
import type { WireMessage } from '../../wire/message.ts'
import type { ModelFacts } from '../../wire/model-facts.ts'

// Judges every request of a replay by the simulator's rules, on the parsed messages. Signatures of recorded thinking cannot be checked
// here; the view decides which thinking is sent.

/** Most output that a request asks for; models with a lower limit get theirs. */
const MAX_TOKENS = 32_000

export interface RequestChecker {
  /** The rule that a request breaks; undefined if it is valid. Messages before `from` are those of the request before it. */
  readonly check: (request: CheckedRequest) => string | undefined
}

export interface CheckedRequest {
  readonly facts: ModelFacts
  readonly model: string
  readonly nodes: readonly ViewNode[]
  readonly blocks: readonly (readonly ViewBlock[])[]
  readonly from: number
  readonly tokens: number
  readonly windowTokens: number
}

export function createRequestChecker(): RequestChecker {
  const messages = new WeakMap<readonly ViewBlock[], WireMessage>()
  const messageOf = (node: ViewNode, blocks: readonly ViewBlock[]): WireMessage => {
    const known = messages.get(blocks)
    if (known) return known
    const message: WireMessage = { role: node.role, content: blocks.map((block) => block.block) }
    messages.set(blocks, message)
    return message
  }
  return {
    check({ facts, model, nodes, blocks, from, tokens, windowTokens }) {
      const sent: WireMessage[] = []
      let firstNew = 0
      nodes.forEach((node, index) => {
        const ofNode = blocks[index] ?? []
        if (index === from) firstNew = sent.length
        if (ofNode.length > 0) sent.push(messageOf(node, ofNode))
      })
      if (from >= nodes.length) firstNew = sent.length
      const head = { model, max_tokens: Math.min(MAX_TOKENS, facts.maxOutput) }
      const judged = {
        version: '2023-06-01',
        betas: [],
        switches: DEFAULT_SWITCHES,
        counting: false,
        cacheEdits: false,
      } as const
      const fresh: unknown = { ...head, messages: sent.slice(firstNew) }
      const shaped = sent.length > firstNew && isJsonObject(fresh) ? shapeRequest(fresh, judged) : undefined
      if (shaped && 'refusal' in shaped) return shaped.refusal.rule
      if (tokens > windowTokens) return 'request.prompt-too-long'
      return validateRequest({ ...head, messages: sent }, { ...judged, facts })?.rule
    },
  }
}
