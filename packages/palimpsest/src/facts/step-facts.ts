import type { Entry, EntryId, MessageEntry } from '../transcript/entry.ts'
import { RECALL_TOOL } from '../transcript/recall-tool.ts'
import { isBlock, toBlocks, type Block } from '../wire/message.ts'
import { decodeFacts } from './encode-facts.ts'
import type {
  AnswerFact,
  BackgroundFact,
  CodeFact,
  CommandFact,
  ErrorFact,
  Facts,
  FileFact,
  StandingWords,
  TodoFact,
  UserWords,
} from './facts.ts'
import { leavesOpen } from './failed-check.ts'
import { isLikeCall } from './like-call.ts'
import { ownWords } from './own-words.ts'
import { readCall, type ReadCall } from './read-call.ts'
import { readResult, tellingLine, type ReadResult } from './read-result.ts'
import { shellChanges, type FileChange } from './shell-changes.ts'
import { stepStanding } from './standing/standing-words.ts'

// Facts as a fold over the entries of one chain. A step costs as much as its entry contains. Facts that would grow without end are bounded
// here; what they leave out is in the transcript.

export interface FactsState {
  /** It includes everything that the conversation ever said, directly or through the facts that it began with. */
  whole: boolean
  readonly words: UserWords[]
  standing: readonly StandingWords[]
  readonly files: Map<string, FileFact>
  /** Paths by file name. */
  readonly pathsByName: Map<string, readonly string[]>
  code: readonly CodeFact[]
  readonly commands: CommandFact[]
  errors: readonly ErrorFact[]
  mended: readonly ErrorFact[]
  list: readonly TodoFact[]
  readonly tasks: Map<string, TodoFact>
  readonly background: Map<string, BackgroundFact>
  readonly answers: AnswerFact[]
  /** What the model said last in the current turn. */
  said: AnswerFact | undefined
  readonly calls: Map<string, OpenCall>
  touches: number
}

interface OpenCall {
  readonly call: ReadCall
  readonly entry: EntryId
}

const COMMANDS_MAX = 60
const ERRORS_MAX = 60
const MENDED_MAX = 20
const ANSWERS_MAX = 60
const TARGET_CHARS_MAX = 200
/** Two runs of a check may differ only in the last test that they name. */
const FAILED_TARGET_CHARS_MAX = 2_000

/** `whole`: the entries begin where the conversation does. */
export function noFactsYet(whole: boolean): FactsState {
  return {
    whole,
    words: [],
    standing: [],
    files: new Map(),
    pathsByName: new Map(),
    code: [],
    commands: [],
    errors: [],
    mended: [],
    list: [],
    tasks: new Map(),
    background: new Map(),
    answers: [],
    said: undefined,
    calls: new Map(),
    touches: 0,
  }
}

/** Adds one entry that counts. The given state is used up: continue with the returned one. */
export function stepFacts(state: FactsState, entry: Entry): FactsState {
  if (entry.kind === 'boundary') {
    const facts = state.whole ? undefined : decodeFacts(entry.meta.extra?.['facts'])
    return facts ? stateFrom(facts, state) : state
  }
  if (entry.kind !== 'message' || entry.part === 'summary' || entry.part === 'attachment') return state
  // A copy repeats what was said before, and says nothing about the present state.
  if (entry.part === 'kept' && state.whole) return state
  if (entry.message.role === 'assistant') addAnswer(state, entry)
  else addUserMessage(state, entry)
  return state
}

export function factsIn(state: FactsState): Facts {
  return {
    words: [...state.words],
    standing: state.standing,
    files: [...state.files.values()],
    code: state.code,
    commands: [...state.commands],
    errors: state.errors,
    mended: state.mended,
    todos: [...state.list, ...state.tasks.values()],
    background: [...state.background.values()],
    answers: state.said ? [...state.answers, state.said] : [...state.answers],
  }
}

/** Facts from a boundary replace what was gathered from the messages that it keeps. */
function stateFrom(facts: Facts, before: FactsState): FactsState {
  const state = noFactsYet(true)
  for (const words of facts.words) state.words.push(words)
  state.standing = facts.standing
  for (const file of facts.files) {
    addFile(state, file)
    state.touches = Math.max(state.touches, file.touched, file.read ?? 0)
  }
  state.code = facts.code
  for (const command of facts.commands) state.commands.push(command)
  state.errors = facts.errors
  state.mended = facts.mended
  state.list = facts.todos.filter((todo) => todo.id === undefined)
  for (const todo of facts.todos) if (todo.id !== undefined) state.tasks.set(todo.id, todo)
  for (const one of facts.background) state.background.set(one.id, one)
  for (const answer of facts.answers.slice(0, -1)) state.answers.push(answer)
  state.said = facts.answers.at(-1)
  for (const [id, call] of before.calls) state.calls.set(id, call)
  return state
}

const ANSWER_HEAD_CHARS = 1_400
const ANSWER_TAIL_CHARS = 500

function addAnswer(state: FactsState, entry: MessageEntry): void {
  const blocks = toBlocks(entry.message.content)
  for (const block of blocks)
    if (isBlock(block, 'tool_use')) state.calls.set(block.id, { call: readCall(block), entry: entry.id })
  const text = textOf(blocks).trim()
  if (text !== '') state.said = { entry: entry.id, text: shortened(text) }
}

function shortened(text: string): string {
  return text.length <= ANSWER_HEAD_CHARS + ANSWER_TAIL_CHARS
    ? text
    : `${text.slice(0, ANSWER_HEAD_CHARS)} […] ${text.slice(-ANSWER_TAIL_CHARS)}`
}

function addUserMessage(state: FactsState, entry: MessageEntry): void {
  for (const block of toBlocks(entry.message.content)) {
    if (isBlock(block, 'text')) endNotified(state, block.text)
    if (!isBlock(block, 'tool_result')) continue
    const open = state.calls.get(block.tool_use_id)
    state.calls.delete(block.tool_use_id)
    // Recalled text reports the past, and a recall of an unknown id is no failure to fix.
    if (open?.call.tool === RECALL_TOOL) continue
    if (open) addResult(state, open, readResult(block, open.call.command), entry.part === 'interrupted')
  }
  const text = ownWords(entry)
  if (text !== '') addWords(state, entry.id, text)
}

/** Of longer messages, beginning and end are kept. */
const WORDS_CHARS_MAX = 2_000
const WORDS_HEAD_CHARS = 1_200
const WORDS_TAIL_CHARS = 600

function addWords(state: FactsState, entry: EntryId, text: string): void {
  if (state.said) state.answers.push(state.said)
  if (state.answers.length > ANSWERS_MAX) state.answers.shift()
  state.said = undefined
  state.words.push(
    text.length <= WORDS_CHARS_MAX
      ? { entry, text }
      : {
          entry,
          text: text.slice(0, WORDS_HEAD_CHARS),
          cut: { tail: text.slice(-WORDS_TAIL_CHARS), chars: text.length },
        },
  )
  state.standing = stepStanding(state.standing, entry, text)
}

/** An interrupted call may have done its work; it is no error, and fixes none. */
function addResult(state: FactsState, open: OpenCall, result: ReadResult, interrupted: boolean): void {
  const { call } = open
  if (result.refused) return
  if (interrupted) {
    addChanges(state, open, false)
    if (call.command !== undefined) addCommand(state, call.command, { ...result, failed: false })
    return
  }
  const failed = result.failed || isStillOpen(state, call, result.text)
  addChanges(state, open, failed)
  if (!failed) for (const path of call.reads) touchRead(state, path)
  if (call.command !== undefined) addCommand(state, call.command, { ...result, failed })
  addOutcome(state, open, result.text, failed)
  if (failed) return
  if (call.todos) state.list = call.todos
  if (call.task) addTask(state, call, result.text)
  addBackground(state, call, result.text)
}

/** It repeated a failed call, hides its exit code, and does not say that it went well. */
function isStillOpen({ errors }: FactsState, { tool, target, command }: ReadCall, text: string): boolean {
  if (command === undefined) return false
  const like = errors.filter((error) => isLikeCall(error, { tool, target }, false))
  return (
    like.length > 0 &&
    leavesOpen(
      command,
      text,
      like.map((error) => error.text),
    )
  )
}

function addChanges(state: FactsState, { call, entry }: OpenCall, failed: boolean): void {
  const byTool = failed ? [] : call.changes
  const byShell = call.command === undefined ? [] : shellChanges(call.command, failed, call.folder)
  for (const change of [...byTool, ...byShell]) touchChanged(state, change, entry)
}

const CODE_MAX = 12

function touchChanged(state: FactsState, change: FileChange, entry: EntryId): void {
  const { path, operation, code } = change
  const known = knownPath(state, path)
  const had = state.files.get(known)
  const isNew = had === undefined && operation === 'written'
  addFile(state, {
    path: known,
    operation: isNew ? 'created' : operation,
    touched: ++state.touches,
    ...(had?.read !== undefined && { read: had.read }),
    entry,
  })
  state.code = state.code.filter((one) => one.path !== known || !isReplaced(one.text, change))
  if (code !== undefined) state.code = [...state.code, { path: known, text: code }].slice(-CODE_MAX)
}

/** A later change removed it from the file, or may have. */
function isReplaced(text: string, { operation, replaced }: FileChange): boolean {
  if (operation !== 'edited') return true
  if (replaced === undefined || replaced.trim() === '') return false
  return text.includes(replaced) || replaced.includes(text)
}

function touchRead(state: FactsState, path: string): void {
  const known = knownPath(state, path)
  const had = state.files.get(known)
  const read = ++state.touches
  addFile(state, had ? { ...had, read } : { path: known, operation: 'read', touched: read, read })
}

function addFile(state: FactsState, file: FileFact): void {
  if (!state.files.has(file.path)) {
    const name = nameOf(file.path)
    state.pathsByName.set(name, [...(state.pathsByName.get(name) ?? []), file.path])
  }
  state.files.set(file.path, file)
}

/** A relative path is the known file that ends with it, if there is exactly one. */
function knownPath(state: FactsState, path: string): string {
  if (state.files.has(path) || path.startsWith('/')) return path
  const found = (state.pathsByName.get(nameOf(path)) ?? []).filter((known) => known.endsWith(`/${path}`))
  return found.length === 1 ? (found[0] ?? path) : path
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const COMMAND_CHARS_MAX = 300

function addCommand(state: FactsState, command: string, result: ReadResult): void {
  state.commands.push({
    command: command.slice(0, COMMAND_CHARS_MAX),
    failed: result.failed,
    ...(result.exit !== undefined && { exit: result.exit }),
  })
  if (state.commands.length > COMMANDS_MAX) state.commands.shift()
}

/** A failure stays until a similar call succeeds; a similar failure replaces it. */
function addOutcome(state: FactsState, { call, entry }: OpenCall, result: string, failed: boolean): void {
  const target = call.target.slice(0, FAILED_TARGET_CHARS_MAX)
  const like = state.errors.filter((error) => isLikeCall(error, { tool: call.tool, target }, failed))
  const others = like.length > 0 ? state.errors.filter((error) => !like.includes(error)) : state.errors
  if (failed) {
    const error = { entry, tool: call.tool, target, text: tellingLine(result) }
    state.errors = [...others, error].slice(-ERRORS_MAX)
    return
  }
  state.errors = others
  if (like.length > 0) state.mended = [...state.mended, ...like].slice(-MENDED_MAX)
}

function addTask(state: FactsState, { task }: ReadCall, result: string): void {
  const id = task?.id ?? /#(\d+)/.exec(result)?.[1]
  if (!task || id === undefined) return
  const had = state.tasks.get(id)
  const text = task.text ?? had?.text
  const next = task.state ?? had?.state ?? 'open'
  if (next === 'deleted') state.tasks.delete(id)
  else if (text !== undefined) state.tasks.set(id, { id, text, state: next })
}

const BACKGROUND_ID =
  /(?:with ID:? |background as |agentId"?:? ?"?|agent_id"?:? ?"?|running with session ID )([\w-]+)/i
const BACKGROUND_ENDED =
  /<status>(?:completed|failed|killed|stopped)|\bhas ended\b|Process exited with code|\bstatus"?: ?"?(?:completed|failed|killed)|No (?:task|shell) found/i
const LOOKED_AT_CHARS = 1_000

function addBackground(state: FactsState, call: ReadCall, result: string): void {
  const ends = `${result.slice(0, LOOKED_AT_CHARS)}\n${result.slice(-LOOKED_AT_CHARS)}`
  const { background } = call
  if (background?.kind === 'stop') return void state.background.delete(background.id)
  if (background?.kind === 'look')
    return void (BACKGROUND_ENDED.test(ends) && state.background.delete(background.id))
  const runsOn =
    background !== undefined || (call.command !== undefined && /running with session ID/i.test(ends))
  const id = runsOn ? BACKGROUND_ID.exec(ends)?.[1] : undefined
  if (id === undefined) return
  const text = (background?.text ?? call.target).slice(0, TARGET_CHARS_MAX)
  state.background.set(id, { id, text })
}

/** Handles a notice that says which background work ended. */
function endNotified(state: FactsState, text: string): void {
  if (state.background.size === 0 || !text.includes('<task-notification>')) return
  for (const [, id] of text.matchAll(/<task-id>([\w-]+)<\/task-id>/g))
    if (id !== undefined) state.background.delete(id)
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (isBlock(block, 'text') ? [block.text] : [])).join('\n')
}
