import { UsageError, type MemoryRecord } from 'palimpsest'
import { addMemory, removeMemory, undoChange, MEMORY_TYPES, type MemoryType } from 'palimpsest/memory'

import { toPrintable } from '../agent/printable.ts'
import { findSimilarName } from '../agent/similar-name.ts'
import type { CommandInput } from '../commands/command.ts'
import { textOf } from '../run/read-flags.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import type { MemoryCall } from './memory-call.ts'
import { runCheck } from './run-check.ts'
import { runImport } from './run-import.ts'
import { approve, listPending, refuse } from './run-pending.ts'
import { agentScopeOf, openAgentMemories } from './agent-memories.ts'
import {
  openMemories,
  scopeOf,
  type AnyScope,
  type OpenedMemories,
  type ScopedMemory,
} from './memory-scopes.ts'
import { findInHistory, showDiff, showLog } from './show-history.ts'
import { findMemory, listMemories, showMemory } from './show-memories.ts'
import { outcomeText } from './outcome-text.ts'

const VERBS: { readonly [verb: string]: (call: MemoryCall) => Promise<ExitCode> } = {
  list: listMemories,
  show: showMemory,
  add,
  rm: remove,
  log: showLog,
  diff: showDiff,
  undo,
  check: runCheck,
  pending: listPending,
  approve,
  refuse,
  import: runImport,
}

export async function runMemory(input: CommandInput, world: World): Promise<ExitCode> {
  const [verb = 'list', ...words] = input.words
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (!run) {
    const similar = findSimilarName(verb, Object.keys(VERBS))
    const hint = similar === undefined ? '' : ` Did you mean \`palimpsest memory ${similar}\`?`
    throw new UsageError(
      `there is no \`palimpsest memory ${verb}\`.${hint} The actions are: ${Object.keys(VERBS).join(', ')}`,
    )
  }
  const type = typeOf(textOf(input, 'type'))
  const opened = await open(verb, { scope: textOf(input, 'scope'), agent: textOf(input, 'agent') }, world)
  return await run({ opened, words, type, isJson: input.flags['json'] === true, world })
}

interface Where {
  readonly scope: string | undefined
  readonly agent: string | undefined
}

async function open(verb: string, { scope, agent }: Where, world: World): Promise<OpenedMemories> {
  if (agent === undefined)
    return await openMemories(scopeOf(scope) ?? (NEEDS_ONE.has(verb) ? 'project' : undefined), world)
  const wanted = agentScopeOf(scope)
  if (NEEDS_ONE.has(verb) && wanted === undefined)
    throw new UsageError(`memory ${verb} --agent ${agent}: which scope? Give --scope user, project or local`)
  return await openAgentMemories(agent, wanted, world)
}

/** Verbs that write to a single scope, which is the project by default. */
const NEEDS_ONE = new Set(['add', 'import'])

function typeOf(text: string | undefined): MemoryType | undefined {
  if (text === undefined) return undefined
  const type = MEMORY_TYPES.find((one) => one === text)
  if (type) return type
  throw new UsageError(`--type "${text}": use one of ${MEMORY_TYPES.join(', ')}`)
}

async function add({ opened, words, type, world }: MemoryCall): Promise<ExitCode> {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('memory add: which text? Give the text to remember')
  const memory = theOne(opened)
  const outcome = await addMemory({ text, type }, memory)
  return tell(outcomeText(outcome), outcome.kind === 'written', world)
}

function theOne({ memories }: OpenedMemories): ScopedMemory<AnyScope> {
  const [memory] = memories
  if (!memory) throw new Error('unreachable: a scope was chosen')
  return memory
}

async function remove({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  const [name] = words
  if (name === undefined || words.length > 1)
    throw new UsageError('memory rm: which memory? `palimpsest memory list` lists their names')
  const { memory } = await findMemory(name, opened)
  const record = await removeMemory(name, memory)
  const text = record ? `removed ${name}; \`palimpsest memory undo\` restores it` : `${name} was already gone`
  return tell(text, true, world)
}

async function undo({ opened, words, world }: MemoryCall): Promise<ExitCode> {
  const found = await findInHistory(words[0], opened)
  if (!found) return tell('there is no change to undo', false, world)
  const outcome = await undoChange(found.record.id, found.memory)
  return outcome.kind === 'undone'
    ? tell(undoneText(outcome.target), true, world)
    : tell(outcome.why, false, world)
}

/** The reason of a change may not say which memories it is about. */
function undoneText({ reason, changed, id }: MemoryRecord): string {
  const names = changed.map(({ file }) => file).filter((file) => file !== 'MEMORY')
  return `undone: ${reason}: ${names.join(', ')} (${id})`
}

function tell(text: string, isDone: boolean, world: World): ExitCode {
  if (isDone) world.print(`${toPrintable(text)}\n`)
  else world.printError(`palimpsest: ${toPrintable(text)}\n`)
  return isDone ? DONE : FAILED
}
