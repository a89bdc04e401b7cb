import type { Strategy } from './strategies/strategy.ts'
import { HIDDEN_PROMPT } from './charge-requests.ts'
import { factsOf } from './replay-one.ts'
import type { ReplaySession } from './replay-session.ts'
import { runStrategy } from './run-strategy.ts'
import { fitSizes } from './size-model.ts'
import { chainEnd, type Settled } from '../../transcript/settle.ts'

/**
 * What a strategy would send at each step, one JSON line per step, as differences: the first `keep` messages of the line before stay,
 * and `append` follows them. The first line of a session also has `system` and `tools`.
 */
export async function* writeViews(
  session: ReplaySession,
  strategy: Strategy,
  windowTokens: number,
): AsyncGenerator<string, void> {
  const sizes = fitSizes(session, factsOf)
  let last: readonly string[] = []
  for await (const { index, step, settled } of runStrategy(session, {
    strategy,
    windowTokens,
    sizes,
    factsOf,
    bills: false,
  })) {
    const texts = settled.texts.filter((text) => text !== '')
    const keep = commonTexts(last, texts)
    yield viewLine(
      { session: session.name, strategy: strategy.name, step: index, message_id: step.responseId },
      {
        settled,
        keep,
        append: texts.slice(keep),
        isFirst: index === 0,
      },
    )
    last = texts
  }
}

function viewLine(
  head: {
    readonly session: string
    readonly strategy: string
    readonly step: number
    readonly message_id: string
  },
  view: {
    readonly settled: Settled
    readonly keep: number
    readonly append: readonly string[]
    readonly isFirst: boolean
  },
): string {
  const members = [
    ...Object.entries(head).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
    `"prefix_hash":${JSON.stringify(chainEnd(view.settled))}`,
    ...(view.isFirst ? [`"system":${HIDDEN_PROMPT}`, '"tools":[]'] : []),
    `"keep":${view.keep}`,
    `"append":[${view.append.join(',')}]`,
  ]
  return `{${members.join(',')}}`
}

function commonTexts(a: readonly string[], b: readonly string[]): number {
  let common = 0
  while (common < a.length && common < b.length && a[common] === b[common]) common++
  return common
}
