import { isBlock, isThinking } from '../../../wire/message.ts'
import type { MessagesRequest, Thinking } from '../../../wire/request.ts'
import { hasBeta } from '../headers.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { pathOf, type Turn } from '../turns.ts'
import { checkField, checkOneOf, oneOfText } from './field.ts'
import type { JudgedModel } from './judged.ts'

const BUDGET_LEAST = 1_024
const TOP_P_LEAST = 0.95
const INTERLEAVED = ['interleaved-thinking-']
const MODES = ['adaptive', 'enabled', 'disabled', 'between_tools']

export function checkThinking(
  request: MessagesRequest,
  turns: readonly Turn[],
  judged: JudgedModel,
): Refusal | undefined {
  return checkConfig(request, judged) ?? checkBlocks(turns, judged) ?? checkFirstBlock(request, turns, judged)
}

function checkConfig(request: MessagesRequest, judged: JudgedModel): Refusal | undefined {
  const { thinking } = request
  if (!thinking) return undefined
  const { modes } = judged.facts.thinking
  const refusal = checkOneOf(thinking.type ?? '', MODES, 'thinking.type')
  if (refusal) return refusal
  if (!modes.includes(thinking.type))
    return refuse('thinking.mode', { mode: thinking.type, values: oneOfText(modes) })
  return (
    (thinking.type === 'disabled' ? undefined : checkSampling(request)) ??
    checkDisplay(thinking) ??
    (thinking.type === 'enabled' ? checkBudget(request, thinking, judged) : undefined)
  )
}

function checkSampling({ temperature, top_p: topP, top_k: topK }: MessagesRequest): Refusal | undefined {
  if (typeof temperature === 'number' && temperature !== 1) return refuse('thinking.temperature')
  if (typeof topP === 'number' && topP < TOP_P_LEAST) return refuse('thinking.top-p')
  return typeof topK === 'number' ? refuse('thinking.top-k') : undefined
}

function checkDisplay(thinking: Thinking): Refusal | undefined {
  if (!('display' in thinking)) return undefined
  return checkOneOf(
    thinking.display,
    ['summarized', 'omitted', 'updates'],
    `thinking.${thinking.type}.display`,
  )
}

function checkBudget(
  request: MessagesRequest,
  thinking: Thinking & { readonly type: 'enabled' },
  { betas, counting }: JudgedModel,
): Refusal | undefined {
  const refusal = checkField(thinking.budget_tokens, 'integer', 'thinking.enabled.budget_tokens')
  if (refusal) return refusal
  if (thinking.budget_tokens < BUDGET_LEAST) return refuse('thinking.budget-least')
  const over = !counting && request.max_tokens <= thinking.budget_tokens
  return over && !hasBeta(betas, INTERLEAVED) ? refuse('thinking.budget-over') : undefined
}

function checkBlocks(turns: readonly Turn[], { switches }: JudgedModel): Refusal | undefined {
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue
    for (const at of turn.blocks) {
      if (!isThinking(at.block)) continue
      if ('cache_control' in at.block && at.block.cache_control)
        return refuse('thinking.breakpoint', { path: `${pathOf(at)}.${at.block.type}` })
    }
    const last = turn.blocks.at(-1)
    if (last && isThinking(last.block) && switches.thinkingLast === 'refuse')
      return refuse('thinking.last-block', { index: last.message })
  }
  return undefined
}

/** Only for manual thinking: the assistant turn of a running tool loop must begin with the thinking that it was made with. */
function checkFirstBlock(
  request: MessagesRequest,
  turns: readonly Turn[],
  { switches }: JudgedModel,
): Refusal | undefined {
  if (switches.thinkingFirst === 'accept' || request.thinking?.type !== 'enabled') return undefined
  const turn = turns.findLast(({ role }) => role === 'assistant')
  const first = turn?.blocks[0]
  const inLoop = turn?.blocks.some(({ block }) => isBlock(block, 'tool_use')) ?? false
  if (!first || isThinking(first.block) || !(inLoop || turns.at(-1) === turn)) return undefined
  return refuse('thinking.first-block', { path: pathOf(first), type: first.block.type })
}
