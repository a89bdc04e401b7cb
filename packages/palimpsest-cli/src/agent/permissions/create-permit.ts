import { delimiter, isAbsolute } from 'node:path'

import type { LoopTool, Permit, ToolContext, Verdict } from 'palimpsest/loop'

import { isWorkPath, type Access } from '../paths/access.ts'
import { realPathOf } from '../paths/real-path.ts'
import type { ChildEnvironment } from '../process/child-environment.ts'
import { Refusal } from '../refusal.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { keptEnvironment } from '../shell/shell-state.ts'
import { findOffer, type Offer } from './always/offer.ts'
import { outsideFlag } from './always/outside-flag.ts'
import { factsOf, type CallFacts } from './call-facts.ts'
import { decide, type Decision, type ShellConcerns } from './decide.ts'
import { hidesFiles } from './match-path.ts'
import type { PermissionMode } from './permission-mode.ts'
import type { Rule } from './rule.ts'
import { shellConcerns } from './shell-concerns.ts'

export interface PermissionQuestion {
  readonly tool: string
  readonly input: Parameters<Permit>[1]
  readonly why: string
  /** What "always" would allow from now on. Absent: nothing is narrow enough, so the answer is yes or no. */
  readonly offer?: Offer | undefined
}

export type PermissionAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'always' }
  /** `words` go to the model. */
  | { readonly kind: 'no'; readonly words?: string }

export interface PermitOptions {
  /** The same object that the tools have, with the rules in it. */
  readonly access: Access
  /** A function if the mode may change: it runs for each call. */
  readonly mode: PermissionMode | (() => PermissionMode)
  readonly isTrusted: boolean
  /** The same object that the tools have. */
  readonly sandbox: Sandbox
  /** Environment of the first command: it defines names and variables until commands change them. */
  readonly env: ChildEnvironment
  /** Real paths of our own folders that no tool writes unasked: the home with settings and trust. */
  readonly protectedFolders: readonly string[]
  /** Absent: no user can answer. Calls that need a question are refused, and the refusal names the flag that allows them. */
  readonly ask?:
    | ((question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>)
    | undefined
}

/** For calls that are not commands; nothing reads it. */
const NO_CONCERNS: ShellConcerns = { kind: 'refused', why: 'it is no command' }

export function createPermit(options: PermitOptions): Permit {
  const { access } = options
  const queue = createQueue()
  // Found at the first call that writes: a run that only answers in words never needs them.
  let programFolders: Promise<readonly string[]> | undefined
  const decideWith = async (
    tool: LoopTool,
    facts: CallFacts,
    more: readonly Rule[] = [],
  ): Promise<Decision> => {
    const rules = [...access.rules, ...more]
    const hides = rules.some(hidesFiles)
    const { isTrusted, sandbox } = options
    const policy = { access, sandbox, isTrusted, hidesFiles: hides }
    const concerns =
      facts.kind === 'shell'
        ? await shellConcerns(facts, rules, {
            ...policy,
            env: keptEnvironment(options.env, access.shellState()),
            firstPath: options.env['PATH'] ?? '',
          })
        : NO_CONCERNS
    const { cwd, home } = access
    const mode = typeof options.mode === 'string' ? options.mode : options.mode()
    return decide(tool.name, facts, { mode, rules, cwd, home }, concerns)
  }
  const look = async (tool: LoopTool, input: Parameters<Permit>[1]): Promise<Looked> => {
    const facts = await factsOf(tool, input, access, async () => [
      ...options.protectedFolders,
      ...(await (programFolders ??= findProgramFolders(options))),
    ])
    return { facts, decision: await decideWith(tool, facts) }
  }
  return async (tool, input, context) => {
    try {
      const first = await look(tool, input)
      if (first.decision.kind !== 'ask') return conclude(tool, first, options, context)
      // One question at a time: the answer to an earlier question may settle this one.
      return await queue(async () => {
        const { facts, decision } = await look(tool, input)
        if (decision.kind !== 'ask') return conclude(tool, { facts, decision }, options, context)
        const allowsWith = async (more: readonly Rule[]): Promise<boolean> =>
          (await decideWith(tool, facts, more)).kind === 'allow'
        const asked = { facts, why: decision.why, options, allowsWith }
        const answer = await askOrRefuse(tool, input, asked, context.signal)
        if (answer.kind === 'no') return { allow: false, reason: answer.words }
        if (answer.kind === 'always') await access.changeRules((rules) => [...rules, ...answer.rules])
        return conclude(tool, { facts, decision: { kind: 'allow' } }, options, context)
      })
    } catch (error) {
      if (error instanceof Refusal) return { allow: false, reason: error.message }
      throw error
    }
  }
}

/** Real paths of `PATH` folders inside the working folders: a program written there runs whenever its name is called. */
async function findProgramFolders({ access, env }: PermitOptions): Promise<readonly string[]> {
  const entries = (env['PATH'] ?? '').split(delimiter).filter((entry) => isAbsolute(entry))
  const real = await Promise.all(entries.map((entry) => realPathOf(entry).catch(() => entry)))
  return real.filter((entry) => isWorkPath(access, entry) && !access.folders.includes(entry))
}

interface Looked {
  readonly facts: CallFacts
  readonly decision: Decision
}

function conclude(
  tool: LoopTool,
  { facts, decision }: Looked,
  { access, sandbox }: PermitOptions,
  { toolUseId }: ToolContext,
): Verdict {
  if (decision.kind !== 'allow')
    return { allow: false, reason: `${tool.name} is not permitted: ${decision.why}.` }
  if (facts.kind === 'file') access.grant(toolUseId, facts.real)
  if (facts.kind === 'file' && facts.access === 'write') sandbox.writing?.expect(facts.real)
  if (facts.kind === 'shell')
    access.grantCommand(toolUseId, { command: facts.command, way: decision.way ?? { kind: 'open' } })
  return { allow: true }
}

type Settled =
  | { readonly kind: 'yes' }
  | { readonly kind: 'always'; readonly rules: readonly Rule[] }
  | { readonly kind: 'no'; readonly words: string }

interface Asked {
  readonly facts: CallFacts
  readonly why: string
  readonly options: PermitOptions
  /** Would the call run unasked with these additional rules? */
  readonly allowsWith: (rules: readonly Rule[]) => Promise<boolean>
}

async function askOrRefuse(
  tool: LoopTool,
  input: Parameters<Permit>[1],
  { facts, why, options, allowsWith }: Asked,
  signal: AbortSignal,
): Promise<Settled> {
  const { access } = options
  if (options.ask === undefined) {
    const cure = await outsideFlag(tool.name, facts, access, allowsWith)
    return {
      kind: 'no',
      words: `${tool.name} needs permission (${why}), and nobody can be asked. ${cure}`,
    }
  }
  const offer = await findOffer(facts, access, allowsWith)
  const question = { tool: tool.name, input, why, offer }
  const answer = await options.ask(question, signal)
  if (answer.kind === 'yes') return answer
  if (answer.kind === 'no') {
    const words = answer.words === undefined ? '' : ` The user says: ${answer.words}`
    return { kind: 'no', words: `The user did not permit this call to ${tool.name}.${words}` }
  }
  return offer ? { kind: 'always', rules: offer.rules } : { kind: 'yes' }
}

/** Runs the calls one after the other. */
export function createQueue(): <T>(run: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => undefined)
    return next
  }
}
