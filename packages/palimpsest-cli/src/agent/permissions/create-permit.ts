import type { LoopTool, Permit, ToolContext, Verdict } from 'palimpsest/loop'

import type { Access } from '../paths/access.ts'
import { Refusal } from '../refusal.ts'
import { factsOf, type CallFacts } from './call-facts.ts'
import { decide, type Decision, type ShellConcerns } from './decide.ts'
import type { PermissionMode } from './permission-mode.ts'
import { parseRule, type Rule } from './rule.ts'
import { shellConcerns } from './shell-concerns.ts'
import { suggestRule, toFlag } from './suggest-rule.ts'

export interface PermissionQuestion {
  readonly tool: string
  readonly input: Parameters<Permit>[1]
  readonly why: string
  /** What "always" would add for the rest of this conversation. */
  readonly rule: string
}

export type PermissionAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'always' }
  /** `words` go to the model. */
  | { readonly kind: 'no'; readonly words?: string }

export interface PermitOptions {
  /** The same as the tools', with the rules in it. */
  readonly access: Access
  /** Asked at each call: the user may change it. */
  readonly mode: () => PermissionMode
  readonly isTrusted: boolean
  /** Folders of our own that no tool writes unasked, real: the home with settings and trust. */
  readonly protectedFolders: readonly string[]
  /** Absent: nobody is there. What would need asking is refused, and the text names the flag that allows it. */
  readonly ask?: (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>
}

const NO_CONCERNS: ShellConcerns = { all: undefined, uncovered: undefined }

export function createPermit(options: PermitOptions): Permit {
  const { access } = options
  const added: Rule[] = []
  const queue = createQueue()
  const look = async (
    tool: LoopTool,
    input: Parameters<Permit>[1],
  ): Promise<{ facts: CallFacts; decision: Decision }> => {
    const rules = [...access.rules, ...added]
    const facts = await factsOf(tool, input, access, options.protectedFolders)
    const hidesFiles = rules.some(({ effect, tool: name }) => effect !== 'allow' && name === 'Read')
    const policy = { access, isTrusted: options.isTrusted, hidesFiles }
    const concerns = facts.kind === 'shell' ? await shellConcerns(facts.text, rules, policy) : NO_CONCERNS
    const { cwd, home } = access
    return { facts, decision: decide(tool.name, facts, { mode: options.mode(), rules, cwd, home }, concerns) }
  }
  return async (tool, input, context) => {
    try {
      const first = await look(tool, input)
      if (first.decision.kind !== 'ask') return conclude(tool, first, access, context)
      // One question at a time; the answer to an earlier one may settle this one.
      return await queue(async () => {
        const { facts, decision } = await look(tool, input)
        if (decision.kind !== 'ask') return conclude(tool, { facts, decision }, access, context)
        const answer = await askOrRefuse(tool, input, { facts, why: decision.why, options }, context.signal)
        if (answer.kind === 'no') return { allow: false, reason: answer.words }
        if (answer.kind === 'always') added.push(answer.rule)
        return conclude(tool, { facts, decision: { kind: 'allow' } }, access, context)
      })
    } catch (error) {
      if (error instanceof Refusal) return { allow: false, reason: error.message }
      throw error
    }
  }
}

function conclude(
  tool: LoopTool,
  { facts, decision }: { readonly facts: CallFacts; readonly decision: Decision },
  access: Access,
  { toolUseId }: ToolContext,
): Verdict {
  if (decision.kind !== 'allow')
    return { allow: false, reason: `${tool.name} is not permitted: ${decision.why}.` }
  if (facts.kind === 'file') access.grant(toolUseId, facts.real)
  return { allow: true }
}

type Settled =
  | { readonly kind: 'yes' }
  | { readonly kind: 'always'; readonly rule: Rule }
  | { readonly kind: 'no'; readonly words: string }

interface Asked {
  readonly facts: CallFacts
  readonly why: string
  readonly options: PermitOptions
}

async function askOrRefuse(
  tool: LoopTool,
  input: Parameters<Permit>[1],
  { facts, why, options }: Asked,
  signal: AbortSignal,
): Promise<Settled> {
  const rule = suggestRule(tool.name, facts)
  if (options.ask === undefined) {
    const words = `${tool.name} needs permission (${why}), and nobody can be asked. ${toFlag(tool.name, facts, rule)} allows it.`
    return { kind: 'no', words }
  }
  const answer = await options.ask({ tool: tool.name, input, why, rule }, signal)
  if (answer.kind === 'yes') return answer
  if (answer.kind === 'no') {
    const words = answer.words === undefined ? '' : ` The user says: ${answer.words}`
    return { kind: 'no', words: `The user did not permit this call to ${tool.name}.${words}` }
  }
  const parsed = parseRule(rule, 'allow')
  return parsed.ok ? { kind: 'always', rule: parsed.rule } : { kind: 'yes' }
}

/** Runs one after the other. */
function createQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => undefined)
    return next
  }
}
