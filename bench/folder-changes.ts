import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { AsyncLocalStorage } from 'node:async_hooks'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

import { childOf, parseSource, stringOf, walk, type SyntaxNode } from '../test/kit/syntax.ts'

// How much a reader jumps about: one question that is answered with tools, traced call by call, and how often the next call is of a function
// in another folder. From the first byte of the answer that calls the tools until their results are appended.
//
// Sources are rewritten as they are loaded, so that every function of the two packages notes its call, callbacks too. The simulator is
// another thread: it stands for the network. What nobody waits for runs whenever there is time, between calls that it has nothing to do with:
// it is left out, with all that it calls.
//
// Three counts, from what a machine does to what a reader does (docs/decisions/0086-changes-of-folder.md):
// - every call: a stream of a hundred events counts a hundred times;
// - repeats once: a stream comes in many events and all of them go the same way, as do several tools, so `A B A B A B` is `A B`;
// - files to open: a reader opens a file once and then knows it. Files in the order in which they are first needed, and how often the next one is in
//   another folder. This is the count that has a bound.
//
// `--folders` prints the folders in order, `--calls` every call, `--files` the files to open, `--pairs` who calls over a border and how often.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OURS = /\/packages\/[^/]+\/src\/.*\.ts$/
/** Nobody waits for these: the file with the notes, and the provider's list of models. */
const BESIDE: ReadonlySet<string> = new Set([
  'palimpsest-cli/run/notes/notes-writer#drain',
  'palimpsest-cli/run/models/reported-models#ask',
])
/** The longest way that is looked for as a repeat, in visits of a folder. */
const REPEAT_VISITS_MAX = 200
/** Of folder, from one file to open to the next. */
const FILES_CHANGES_MAX = 60

interface Call {
  readonly folder: string
  readonly file: string
  /** File and function. */
  readonly name: string
}

if (isMainThread) await measure()
else await answer()

async function measure(): Promise<void> {
  const traced = between(await askOnce())
  const visits = inARow(traced.map(({ folder }) => folder))
  const collapsed = withoutRepeats(visits)
  const files = firstFiles(traced)
  const asked = (option: string): boolean => process.argv.includes(option)
  if (asked('--calls')) for (const { name } of traced) console.log(name)
  if (asked('--folders')) console.log(collapsed.join('\n'))
  if (asked('--files')) for (const { file } of files) console.log(file)
  if (asked('--pairs')) for (const [pair, count] of pairsOf(traced)) console.log(`${count} ${pair}`)
  console.log(`${traced.length} calls in ${new Set(visits).size} folders and ${files.length} files`)
  console.log(`changes of folder, every call: ${visits.length - 1}`)
  console.log(`changes of folder, repeats once: ${collapsed.length - 1}`)
  const changes = inARow(files.map(({ folder }) => folder)).length - 1
  console.log(`changes of folder, files to open: ${changes}, at most ${FILES_CHANGES_MAX}`)
  if (changes > FILES_CHANGES_MAX) process.exitCode = 1
}

/** A question, an answer that reads two files, and the end; through the command, as a script runs it. */
async function askOnce(): Promise<readonly Call[]> {
  const calls: Call[] = []
  const beside = new AsyncLocalStorage<true>()
  Object.assign(globalThis, {
    noteCall: (file: string, name: string) => {
      if (!beside.getStore()) calls.push({ folder: dirname(file), file, name: `${file}#${name}` })
    },
    runBeside: async (run: () => Promise<void>) => await beside.run(true, run),
  })
  noteAllCalls()
  const { runCli } = await import('../packages/palimpsest-cli/src/commands/run-cli.ts')
  const root = mkdtempSync(join(tmpdir(), 'palimpsest-folders-'))
  const [home, cwd] = [join(root, 'home'), join(root, 'work')]
  mkdirSync(cwd)
  const files = ['one.txt', 'two.txt'].map((name) => join(cwd, name))
  for (const file of files) writeFileSync(file, 'a line\nand another\n')
  const network = new Worker(new URL(import.meta.url), { workerData: files })
  const url = await new Promise<string>((resolve, reject) =>
    network.once('message', resolve).once('error', reject),
  )
  try {
    await runCli(['-p', 'What do the two files say?'], {
      version: 'bench',
      nodeVersion: process.version,
      env: { PALIMPSEST_HOME: home, PALIMPSEST_BASE_URL: url, PATH: process.env['PATH'] ?? '' },
      cwd,
      userHome: root,
      now: () => Date.now(),
      platform: process.platform,
      readInput: async () => ({ kind: 'none' }),
      print: () => undefined,
      printError: (text) => void process.stderr.write(text),
      signal: new AbortController().signal,
    })
  } finally {
    await network.terminate()
    rmSync(root, { recursive: true })
  }
  return calls
}

/** In a thread of its own: it uses parts of ours, and none of its calls are the agent's. */
async function answer(): Promise<void> {
  const { createSimulator } = await import('../packages/palimpsest/src/lab/simulator/create-simulator.ts')
  const { serve } = await import('../packages/palimpsest/src/node/serving/serve.ts')
  const files: readonly string[] = workerData
  const uses = files.map((file_path) => ({ type: 'tool_use' as const, name: 'Read', input: { file_path } }))
  const script = [
    { content: [{ type: 'text' as const, text: 'I read both.' }, ...uses], stop_reason: 'tool_use' as const },
    { content: [{ type: 'text' as const, text: 'They say the same.' }] },
  ]
  const served = await serve(createSimulator({ script }).fetch)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(served.url)
}

/** From where the stream is opened until the results are appended: the next round takes what was made beside it first. */
function between(all: readonly Call[]): readonly Call[] {
  const begin = all.findIndex(({ name }) => name.endsWith('read-events#readEvents'))
  const end = all.findIndex(({ name }, i) => i > begin && name.endsWith('with-beside#withBeside'))
  if (begin < 0 || end < 0)
    throw new Error('the trace does not show where the stream begins or the round ends')
  return all.slice(begin, end)
}

function noteAllCalls(): void {
  registerHooks({
    load: (url, context, next) => {
      const path = url.startsWith('file:') ? fileURLToPath(url) : ''
      if (!OURS.test(path)) return next(url, context)
      const source = stripTypeScriptTypes(withNotes(path, readFileSync(path, 'utf8')))
      return { format: 'module', source, shortCircuit: true }
    },
  })
}

/** The first call into each file. */
function firstFiles(traced: readonly Call[]): readonly Call[] {
  const seen = new Set<string>()
  return traced.filter(({ file }) => !seen.has(file) && seen.add(file))
}

/** From which folder to which function of another, the most frequent first. */
function pairsOf(traced: readonly Call[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>()
  for (const [i, { folder, name }] of traced.entries()) {
    const from = traced[i - 1]?.folder
    if (from === undefined || from === folder) continue
    const pair = `${from} -> ${name}`
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)
}

function inARow(folders: readonly string[]): readonly string[] {
  return folders.filter((folder, i) => folder !== folders[i - 1])
}

/** Whatever is visited again at once, in the same order, is left out; short ways first, until nothing repeats. */
function withoutRepeats(given: readonly string[]): readonly string[] {
  let visits = given
  for (let length = 1; length <= Math.min(REPEAT_VISITS_MAX, visits.length / 2); length++) {
    const kept: string[] = []
    for (const visit of visits) {
      kept.push(visit)
      const [last, before] = [kept.slice(-length), kept.slice(-2 * length, -length)]
      if (kept.length >= 2 * length && last.every((folder, i) => folder === before[i])) kept.length -= length
    }
    if (kept.length < visits.length) length = 0
    visits = kept
  }
  return visits
}

interface Insertion {
  readonly at: number
  readonly text: string
}

/** The same source, in which every function first notes that it was called. */
function withNotes(path: string, text: string): string {
  const file = relative(join(ROOT, 'packages'), path).replace('/src/', '/').replace(/\.ts$/, '')
  const insertions: Insertion[] = []
  const names = new Map<SyntaxNode, string>()
  walk(parseSource(path, text).program, (node) => {
    const named = childOf(node, 'init') ?? childOf(node, 'value')
    const name = stringOf(childOf(node, 'id') ?? childOf(node, 'key'), 'name')
    if (named && name !== undefined) names.set(named, name)
    const body = childOf(node, 'body')
    if (!isFunction(node) || !body) return
    const own = stringOf(childOf(node, 'id'), 'name') ?? names.get(node) ?? 'callback'
    const note = `globalThis.noteCall(${JSON.stringify(file)},${JSON.stringify(own)})`
    const isBlock = body.type === 'BlockStatement' || body.type === 'FunctionBody'
    if (BESIDE.has(`${file}#${own}`))
      insertions.push(
        { at: body.start + 1, text: `${note};return runBeside(async()=>{` },
        { at: body.end - 1, text: '})' },
      )
    else if (isBlock && text[body.start] === '{') insertions.push({ at: body.start + 1, text: `${note};` })
    else insertions.push({ at: body.start, text: `(${note},(` }, { at: body.end, text: '))' })
  })
  return insertions
    .toSorted((a, b) => b.at - a.at)
    .reduce((rest, { at, text: more }) => rest.slice(0, at) + more + rest.slice(at), text)
}

function isFunction({ type }: SyntaxNode): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'
}
