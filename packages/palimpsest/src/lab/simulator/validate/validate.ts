import type { MessagesRequest } from '../../../wire/request.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { turnsOf } from '../turns.ts'
import { checkCacheEdits } from './check-cache-edits.ts'
import { checkCaching } from './check-caching.ts'
import { checkCompaction } from './check-compaction.ts'
import { checkEdits } from './check-edits.ts'
import { checkGates } from './check-gates.ts'
import { checkPairing } from './check-pairing.ts'
import { checkThinking } from './check-thinking.ts'
import { checkTools } from './check-tools.ts'
import { checkTurns } from './check-turns.ts'
import type { JudgedModel } from './judged.ts'

/** The first rule that a well-formed request breaks. Rules that need counts or signatures are judged later. */
export function validateRequest(request: MessagesRequest, judged: JudgedModel): Refusal | undefined {
  const turns = turnsOf(request.messages)
  return (
    checkGates(request, judged) ??
    checkCompaction(request, judged.counting) ??
    checkOutput(request, judged) ??
    checkTools(request) ??
    checkTurns(request, turns, judged) ??
    checkPairing(turns, judged) ??
    checkThinking(request, turns, judged) ??
    checkCaching(request) ??
    checkEdits(request, judged) ??
    (judged.cacheEdits ? checkCacheEdits(turns) : undefined)
  )
}

function checkOutput(request: MessagesRequest, { facts, counting }: JudgedModel): Refusal | undefined {
  if (counting || request.max_tokens <= facts.maxOutput) return undefined
  return refuse('request.max-tokens-over', {
    asked: request.max_tokens,
    most: facts.maxOutput,
    model: request.model,
  })
}
