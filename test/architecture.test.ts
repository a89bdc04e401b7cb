import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import {
  CLI,
  COMPUTED,
  describeSource,
  LIBRARY,
  readSources,
  ROOT,
  type Import,
  type SourceInfo,
} from './kit/source-tree.ts'
import { parseSource } from './kit/syntax.ts'

// Direction and size, as tests. `ARCHITECTURE.md` says why; this file says what, and names the edge that breaks it.

const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 70
const PARAMETERS_MAX = 4
/** Source files, tests not counted. A folder that needs more has rooms. */
const FOLDER_FILES_MAX = 25
/** The engine is four moments and what they share; with all that lies below it. */
const ENGINE_FILES_MAX = 15

/** The core is compiled without Node and DOM; these are its parts. */
const CORE = new Set(
  'errors wire memory-files flags ports tokens ledger transcript facts situation request accounts background layers engine alone context loop recall conversation drive'.split(
    ' ',
  ),
)

/** What every public path loads first: whether this runtime will do. */
const GATE = 'require-runtime'

const FLOOR = ['wire', 'errors', 'drive']
const MIDDLE = [...FLOOR, 'flags', 'ports', 'tokens', 'ledger', 'transcript']
const LINES = ['lines/', 'entry', 'chain', 'link', 'totals'].map((name) => `transcript/${name}`)
/** Below the layers: what a conversation weighs, how it is sent, what that cost, what runs beside it. */
const BELOW = [...MIDDLE, 'situation', 'request', 'accounts', 'background']
const ENGINE = [...BELOW, 'engine']
/** What callers of the engine hand over and get back: a layer's policy, and the job and the outcome of a compaction. */
const HANDED = [
  'layers/1-tool-results/policy',
  'layers/2-micro-compaction/policy',
  'layers/4-compaction/policy',
  'layers/4-compaction/compaction-',
]

/** What a conversation shares with a context: what a caller may do with the view. */
const ON_A_VIEW = ['change-view', 'compaction-outcome', 'describe-view'].map((name) => `context/${name}`)
/** What both front doors take if the caller brings none. */
const DEFAULTS = ['memory-store', 'one-by-one', 'runtime-clock'].map((name) => `context/library/${name}`)

/**
 * Who may import whom, by part: the first folder or file under `src`, in `lab/` the second. A longer name allows only what begins with
 * it. Every part may import itself, but a layer is a part of its own.
 */
const MAY_IMPORT: { readonly [part: string]: readonly string[] } = {
  errors: [],
  [GATE]: ['errors'],
  wire: [],
  drive: [],
  // What a folder of memories holds, for the port and for those who plan.
  'memory-files': ['wire'],
  flags: [],
  // A port that stores a transcript speaks of entries, and of their sums.
  ports: [...FLOOR, 'flags', 'memory-files', 'transcript/entry', 'transcript/totals'],
  tokens: FLOOR,
  ledger: FLOOR,
  transcript: [...FLOOR, 'tokens/estimate'],
  facts: [...FLOOR, 'transcript'],
  situation: MIDDLE,
  request: [...MIDDLE, 'situation'],
  accounts: [...MIDDLE, 'situation', 'request'],
  background: [...MIDDLE, 'situation', 'request', 'accounts'],
  layers: [...BELOW, 'facts', 'memory-files'],
  engine: [...BELOW, 'facts', 'layers'],
  // Each layer by itself, over a list of messages.
  alone: [...BELOW, 'facts', 'layers'],
  // For callers that own their history: it shares with the loop how a model is asked and how an answer is taken, and hosts what runs beside.
  context: [...ENGINE, 'facts', 'layers', 'loop', 'recall'],
  // Its front door, with a clock and ids of its own.
  'context/library': [...ENGINE, 'layers', 'loop', 'recall', 'context'],
  loop: [...ENGINE, ...HANDED],
  // It hosts what layers do beside the turns. Both it and a context let their callers change and describe the view.
  conversation: [...ENGINE, 'layers', 'loop', 'recall', ...ON_A_VIEW],
  // The front door: it has a clock and ids of its own, and takes a client of the SDK.
  'conversation/agent': [
    ...ENGINE,
    'layers',
    'loop',
    'recall',
    ...ON_A_VIEW,
    ...DEFAULTS,
    'conversation',
    'providers/anthropic',
  ],
  // Clients of others, managed: what they send and get goes through a context.
  wrap: [...FLOOR, 'ports', 'tokens/require-window', 'loop/answers/', 'context', 'context/library'],
  recall: [...FLOOR, 'ports', 'transcript'],
  providers: [...FLOOR, 'ports', 'tokens'],
  'lab/offline': [...FLOOR, 'ports', 'tokens'],
  // The judge must not share the judged one's estimate, nor its view.
  'lab/simulator': [...FLOOR, 'ledger', 'lab/offline'],
  proxy: [...ENGINE, 'context'],
  // Strategies try parts of layers by themselves. Whether a replayed request would be refused is for the judge to say.
  'lab/replay': [...ENGINE, 'facts', 'layers', 'context', 'lab/offline', 'lab/simulator'],
  // The disk knows lines and chains of them, not what the model sees; of memories, what their files are called and how one changed; of
  // messages, what one is, and of tasks, what is said about them.
  node: [
    ...FLOOR,
    'ports',
    'memory-files',
    ...LINES,
    'layers/5-memory/file-patch',
    'layers/5-memory/memory-name',
    'layers/7-agents/mail/letter',
    'layers/7-agents/mail/memory-mailbox',
    'layers/7-agents/team/task',
  ],
  // Beside them it knows what entries say.
  'node/recall-index': [...FLOOR, 'ports', ...LINES, 'recall', 'node'],
  index: [
    ...ENGINE,
    'memory-files',
    'context',
    'context/library',
    'loop',
    'conversation',
    'conversation/agent',
  ],
}

/** What the tests of a part may import beside that: to say what a layer left behind, they name it. */
const TESTS_MAY_IMPORT: { readonly [part: string]: readonly string[] } = { loop: ['layers'] }

/** A public path keeps its name when a file moves to a room below it: what its index lists beside its own folder. */
const LISTS: { readonly [part: string]: readonly string[] } = {
  tokens: ['situation'],
  engine: ['situation', 'request', 'accounts', 'background', 'layers'],
  loop: ['accounts', 'background', 'layers', 'engine'],
  conversation: ['situation', 'drive', 'context'],
  node: ['node/recall-index'],
}

/** In the command: whoever shows a conversation, and what must not know who does. Which face is shown is chosen in `commands/`. */
const FACES: { readonly [room: string]: readonly string[] } = {
  print: ['tui', 'demo'],
  tui: ['print', 'demo'],
  run: ['print', 'tui', 'demo'],
  stored: ['print', 'tui', 'demo'],
}

const FORBIDDEN_NAMES = /(^|-)(utils?|helpers?|managers?|services?)$|^(common|base|types)$/

/** Reached only through ports in the core. */
const IMPURE = [
  'process',
  'globalThis',
  'require',
  'fetch',
  'performance',
  'crypto',
  'console',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'Date.now',
  'new Date()',
  'Math.random',
  // Under another name they would pass.
  'Date as a value',
  'Math as a value',
]

/** The only file that starts processes. */
const STARTER = `${CLI}/agent/process/start-process.ts`

/** The only file that opens files to read them whole. */
const READER = `${LIBRARY}/node/files/plain-file.ts`
/** They wait for ever where a pipe lies in the place of a file. */
const READING = ['readFile', 'readFileSync', 'createReadStream', 'openAsBlob']

/** The member of the thresholds at which a window counts as full; what reads it says so by itself. Only these may. */
const FULL_MARK = 'auto'
const DECIDES_FULLNESS = `${LIBRARY}/situation/`

/** Members that are there or not, by a condition: a reader must run them in his head. This number only shrinks. */
const CONDITIONAL_SPREADS = 201
const NO_SPREADS = 'declare the member as `name?: T | undefined` and pass on the value, undefined or not'

const TYPE_FIELDS_MAX = 24
const LARGE_TYPE_FIELDS = 16
/** Types with more fields of their own than that. This list only shrinks: what travels together in them is a thing without a name. */
const LARGE_TYPES: { readonly [where: string]: number } = {
  [`${CLI}/agent/paths/access.ts#Access`]: 19,
  [`${CLI}/commands/context.ts#ContextDocument`]: 19,
  [`${CLI}/run/prepare-run.ts#PreparedRun`]: 19,
  [`${CLI}/run/set-scene.ts#RunWishes`]: 21,
  [`${CLI}/run/set-scene.ts#Scene`]: 24,
  [`${CLI}/tui/screen/screen-state.ts#ScreenState`]: 17,
  [`${CLI}/tui/ui.ts#Ui`]: 20,
  [`${LIBRARY}/conversation/conversation-setup.ts#ConversationSetup`]: 24,
  [`${LIBRARY}/lab/replay/row.ts#Row`]: 23,
  [`${LIBRARY}/lab/simulator/switches.ts#Switches`]: 21,
  [`${LIBRARY}/layers/4-compaction/policy.ts#CompactionPolicy`]: 17,
  [`${LIBRARY}/loop/run-turn.ts#TurnSetup`]: 17,
  [`${LIBRARY}/wire/request.ts#MessagesRequest`]: 27,
}
/** Not ours: the fields of the Messages API. */
const OF_OTHERS = [`${LIBRARY}/wire/request.ts#MessagesRequest`]

/** A file of a layer that decides. */
const PLAN = /^layers\/.*\/plan(-[^/]*)?$/

/** What appends to a transcript: the first writes, under the others, which also fold. */
const APPENDERS = ['appendEntries', 'appendAfter', 'appendTo', 'appendMessage']
const APPENDER = `${LIBRARY}/situation/session.ts`
/** The loop appends during a turn, the conversation between turns, the context for callers that own their history. */
const APPENDING = ['loop', 'conversation', 'conversation/agent', 'context']
/** Who else may have anything to do with appending, and why. */
const APPENDING_TOO: readonly { readonly where: string; readonly reason: string }[] = [
  { where: `${CLI}/agents/agent-setup.ts`, reason: 'begins the file of a fork with what it was forked from' },
  { where: `${CLI}/stored/open-stored.ts`, reason: 'hands the file of a stored session on as a port' },
  {
    where: `${LIBRARY}/lab/replay/strategies/engine-moments.ts`,
    reason: 'its `append` is what a step asks for',
  },
  {
    where: `${LIBRARY}/lab/replay/write-views.ts`,
    reason: 'its `append` is a part of a line that it prints',
  },
  { where: `${LIBRARY}/loop/ask-or-recover.ts`, reason: 'its `append` is a step of the loop' },
  { where: `${LIBRARY}/loop/take-engine-steps.ts`, reason: 'its `append` is what a step asks for' },
  { where: `${LIBRARY}/node/serving/serve.ts`, reason: 'its `append` adds a header' },
  { where: `${LIBRARY}/node/transcripts/file-store.ts`, reason: 'hands the file on as a port' },
  { where: `${LIBRARY}/node/transcripts/transcript-file.ts`, reason: 'is the file that is appended to' },
]

interface Violation {
  readonly rule: keyof typeof RULES
  readonly where: string
  readonly what: string
}

/** What breaks a rule and may stay for now. This list only shrinks: one that is no longer needed fails the test below. */
const EXCEPTIONS: readonly {
  readonly rule: keyof typeof RULES
  readonly where: string
  readonly reason: string
}[] = [
  {
    rule: 'cycle',
    where: 'packages/palimpsest/src/transcript/pair-up.ts',
    reason: 'types only: what the fold carries is declared beside the fold',
  },
  {
    rule: 'fullness',
    where: `${CLI}/flags/stated-flags.ts`,
    reason: 'the switch of automatic compaction has the same name; it is no threshold',
  },
  {
    rule: 'fullness',
    where: `${CLI}/run/window-settings.ts`,
    reason: 'the switch of automatic compaction has the same name; it is no threshold',
  },
]

const RULES = {
  direction: 'a part imports only what is below it',
  layer: 'a layer never imports another layer',
  plan: 'a plan decides without ports',
  index:
    'an index is for callers outside: it lists its own folder and subfolders, and nothing inside imports it',
  outside: 'the library imports no package; only node/ imports Node',
  computed: 'a dynamic import names its file, so that this test can follow it',
  cli: 'the CLI reaches the library through its public paths',
  faces: 'faces of a conversation never import each other, and what is below them imports none',
  cycle: 'no file imports itself through others',
  judge: 'the measure of the replay and the digest of layer 2 share no code of their own',
  pure: 'the core has no clock, no randomness, no environment, no timers',
  append: 'one function appends to transcripts; the loop, the conversation and the context call it',
  process: 'processes are started in one place, with an environment that holds no key',
  reading: 'files are read in one place, which opens only plain files and never waits for a pipe',
  environment: 'only the main file of the CLI reads the environment and the arguments',
  fullness:
    'only situation/is-full.ts reads the threshold and says when a window is full: all other files ask it',
  'folder size': `a folder has at most ${FOLDER_FILES_MAX} source files, the engine ${ENGINE_FILES_MAX}`,
  'file size': `a file has at most ${FILE_LINES_MAX} lines`,
  'function size': `a function has at most ${FUNCTION_LINES_MAX} lines`,
  parameters: `a function takes at most ${PARAMETERS_MAX} positional parameters`,
  name: 'a file is named after what it exports',
} as const

const sources = readSources()
const violations = violationsOf(sources)

describe('the architecture', () => {
  test.each(Object.entries(RULES))('%s: %s', (rule) => {
    const broken = violations.filter((violation) => violation.rule === rule && !isExcepted(violation))
    expect(broken.map(({ where, what }) => `${where}: ${what}`)).toEqual([])
  })

  test('an exception that is no longer needed is removed', () => {
    const needless = EXCEPTIONS.filter(
      (exception) => !violations.some((violation) => matches(exception, violation)),
    )
    expect(needless).toEqual([])
    const others = APPENDING_TOO.filter(
      ({ where }) => !sources.some((source) => source.path === where && appendsIn(source).length > 0),
    )
    expect(others).toEqual([])
  })

  test('every public path loads the gate first, and bundlers keep it', () => {
    const manifest: {
      exports: { readonly [path: string]: { readonly 'x-source': string } }
      sideEffects: readonly string[]
    } = JSON.parse(readFileSync(join(ROOT, 'packages/palimpsest/package.json'), 'utf8'))
    for (const { 'x-source': path } of Object.values(manifest.exports)) {
      const source = sources.find((one) => one.path === join('packages/palimpsest', path))
      expect({ path, first: source?.imports[0]?.path }).toEqual({ path, first: `${LIBRARY}/${GATE}.ts` })
    }
    expect(manifest.sideEffects).toEqual([`./src/${GATE}.ts`, `./dist/${GATE}.js`])
  })

  test('the library has no runtime dependencies, and its peers are optional', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'packages/palimpsest/package.json'), 'utf8'))
    expect(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })).toEqual([])
    const required = Object.keys(manifest.peerDependencies ?? {}).filter(
      (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
    )
    expect(required).toEqual([])
  })

  test('every file that the rules name exists', () => {
    const library = sources.filter((source) => inside(source.path) !== undefined)
    expect(library.length).toBeGreaterThan(20)
  })
})

describe('what may only shrink', () => {
  const shipped = sources.filter(({ path, isTest }) => path.startsWith('packages/') && !isTest)

  test('is the number of conditional spreads in objects', () => {
    const count = shipped.reduce((sum, { conditionalSpreads }) => sum + conditionalSpreads, 0)
    const cure = count > CONDITIONAL_SPREADS ? NO_SPREADS : `fewer than before: set the number to ${count}`
    expect({ count, cure }).toEqual({ count: CONDITIONAL_SPREADS, cure })
  })

  test(`is the list of types with more than ${LARGE_TYPE_FIELDS} fields; none has more than ${TYPE_FIELDS_MAX}`, () => {
    const large = shipped.flatMap(largeTypesOf)
    const cure = 'split what grew; write down what shrank'
    expect({ large, cure }).toEqual({ large: Object.entries(LARGE_TYPES), cure })
    const ours = large.filter(([where]) => !OF_OTHERS.includes(where))
    expect(ours.filter(([, fields]) => fields > TYPE_FIELDS_MAX)).toEqual([])
  })

  test.each([
    ['const x = { ...(a && { b }), ...(a ? { b } : {}), ...(a === undefined ? {} : { a }) }', 3],
    ['const x = { ...(a ? { b } : { c }), ...a, ...(a ?? {}) }; const y = [...(a ? [b] : [])]', 0],
  ])('%s has %i', (text, count) => {
    expect(describeSource(`${LIBRARY}/a.ts`, parseSource('a.ts', text)).conditionalSpreads).toBe(count)
  })

  test.each([
    ['an object inside an interface', `export interface A { b: { ${fields(17)} } }`, ['A']],
    ['part of an alias', `interface A { a: 1 }; type B = A & { ${fields(17)} }`, ['B']],
    ['a parameter', `function f(x: { ${fields(17)} }) {}`, ['f']],
    ['no declaration', `const x: { ${fields(17)} } = y`, ['a type without a name']],
    ['fewer fields', `interface A { ${fields(16)} }`, []],
  ])('a large type is named by its place: %s', (_what, text, names) => {
    const path = `${LIBRARY}/a.ts`
    const found = largeTypesOf(describeSource(path, parseSource(path, text)))
    expect(found).toEqual(names.map((name) => [`${path}#${name}`, 17]))
  })

  function fields(count: number): string {
    return Array.from({ length: count }, (_, i) => `f${i}: 1`).join('; ')
  }
})

describe('the rules catch violations', () => {
  const lines = (count: number): string => 'const x = 1\n'.repeat(count)

  test.each([
    ['wire/a.ts', "import { x } from '../ledger/b.ts'", 'direction: wire/a → ledger/b'],
    ['wire/a.ts', "import type { x } from '../ledger/b.ts'", 'direction: wire/a → ledger/b'],
    ['wire/a.test.ts', "import { x } from '../ledger/b.ts'", 'direction: wire/a.test → ledger/b'],
    ['lab/simulator/a.ts', "import { x } from '../../tokens/b.ts'", 'direction: lab/simulator/a → tokens/b'],
    [
      'lab/simulator/a.ts',
      "export * from '../../transcript/b.ts'",
      'direction: lab/simulator/a → transcript/b',
    ],
    [
      'lab/simulator/a.ts',
      "const x = await import('../../engine/b.ts')",
      'direction: lab/simulator/a → engine/b',
    ],
    [
      'lab/simulator/a.ts',
      'const x = await import(`../../engine/b.ts`)',
      'direction: lab/simulator/a → engine/b',
    ],
    ['wire/a.ts', 'const x = await import(`../${name}.ts`)', 'computed: packages/palimpsest/src/wire/a.ts'],
    ['wire/a.ts', "const x = await import('../' + name)", 'computed: packages/palimpsest/src/wire/a.ts'],
    [
      'lab/simulator/a.ts',
      "import { x } from '../../providers/openai/b.ts'",
      'direction: lab/simulator/a → providers/openai/b',
    ],
    ['transcript/a.ts', "import { x } from '../tokens/count.ts'", 'direction: transcript/a → tokens/count'],
    ['situation/a.ts', "import { x } from '../request/b.ts'", 'direction: situation/a → request/b'],
    ['request/a.ts', "import { x } from '../accounts/b.ts'", 'direction: request/a → accounts/b'],
    [
      'background/a.ts',
      "import { x } from '../layers/3-session-memory/b.ts'",
      'direction: background/a → layers/3-session-memory/b',
    ],
    [
      'layers/1-tool-results/a.ts',
      "import { x } from '../../engine/b.ts'",
      'direction: layers/1-tool-results/a → engine/b',
    ],
    [
      'loop/a.ts',
      "import { x } from '../layers/4-compaction/compact.ts'",
      'direction: loop/a → layers/4-compaction/compact',
    ],
    [
      'context/library/a.ts',
      "import { x } from '../../conversation/agent/b.ts'",
      'direction: context/library/a → conversation/agent/b',
    ],
    ['context/a.ts', "import { x } from '../conversation/b.ts'", 'direction: context/a → conversation/b'],
    [
      'conversation/a.ts',
      "import { x } from '../context/prepare.ts'",
      'direction: conversation/a → context/prepare',
    ],
    ['session/a.ts', '', 'direction: session/a'],
    [
      'layers/1-tool-results/a.ts',
      "import '../2-micro-compaction/b.ts'",
      'layer: layers/1-tool-results/a → layers/2-micro-compaction/b',
    ],
    [
      'layers/1-tool-results/plan.ts',
      "import type { P } from '../../ports.ts'",
      'plan: layers/1-tool-results/plan → ports',
    ],
    [
      'layers/5-memory/rewrite/plan-change.ts',
      "import type { P } from '../../../ports.ts'",
      'plan: layers/5-memory/rewrite/plan-change → ports',
    ],
    ['ledger/a.ts', "import { x } from '../wire/index.ts'", 'index: ledger/a → wire/index'],
    ['ledger/index.ts', "export { x } from '../wire/a.ts'", 'index: ledger/index → wire/a'],
    ['tokens/index.ts', "export { x } from '../request/a.ts'", 'index: tokens/index → request/a'],
    ['ledger/a.ts', "import { x } from 'node:fs'", 'outside: ledger/a → node:fs'],
    ['node/a.ts', "import { x } from 'left-pad'", 'outside: node/a → left-pad'],
    [
      'ledger/a.ts',
      "import { x } from '../../../../test/kit/cases.ts'",
      'outside: ledger/a → ../../../../test/kit/cases.ts',
    ],
    ['engine/a.ts', 'export const x = Date.now()', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = new Date()', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'const D = Date; export const x = new D()', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = Date()', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = new Date(...none)', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = Date[name]()', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'const { random } = Math', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = { setTimeout }', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['engine/a.ts', 'export const x = Math.random', 'pure: packages/palimpsest/src/engine/a.ts'],
    ['node/a.ts', "export const x = process['env']", 'environment: packages/palimpsest/src/node/a.ts'],
    ['node/a.ts', "import { spawn } from 'node:child_process'", 'process: packages/palimpsest/src/node/a.ts'],
    [
      'node/a.ts',
      "import { readFile } from 'node:fs/promises'",
      'reading: packages/palimpsest/src/node/a.ts',
    ],
    [
      'node/a.ts',
      "import { createReadStream, statSync } from 'node:fs'",
      'reading: packages/palimpsest/src/node/a.ts',
    ],
    [
      'engine/a.ts',
      'export const x = (a) => a.thresholds.auto',
      'fullness: packages/palimpsest/src/engine/a.ts',
    ],
    [
      'engine/a.ts',
      'export const x = ({ limits: { auto: at } }) => at',
      'fullness: packages/palimpsest/src/engine/a.ts',
    ],
    [
      'layers/4-compaction/a.ts',
      "import { appendTo } from '../../situation/session.ts'",
      'append: packages/palimpsest/src/layers/4-compaction/a.ts',
    ],
    [
      'engine/a.ts',
      "import * as session from '../situation/session.ts'",
      'append: packages/palimpsest/src/engine/a.ts',
    ],
    [
      'engine/a.ts',
      "export { appendTo as x } from '../situation/session.ts'",
      'append: packages/palimpsest/src/engine/a.ts',
    ],
    [
      'conversation/a.ts',
      'export const f = async () => await ports.transcript.append(entries)',
      'append: packages/palimpsest/src/conversation/a.ts',
    ],
    [
      'context/a.ts',
      'export const f = ({ append }) => append(entries)',
      'append: packages/palimpsest/src/context/a.ts',
    ],
    ['node/session-manager.ts', '', 'name: packages/palimpsest/src/node/session-manager.ts'],
    ['wire/utils/a.ts', '', 'name: packages/palimpsest/src/wire/utils/a.ts'],
    ['wire/a.ts', lines(FILE_LINES_MAX + 1), 'file size: packages/palimpsest/src/wire/a.ts'],
    [
      'wire/a.ts',
      `const f = () => {\n${lines(FUNCTION_LINES_MAX)}}`,
      'function size: packages/palimpsest/src/wire/a.ts#f',
    ],
    ['wire/a.ts', 'export function f(a, b, c, d, e) {}', 'parameters: packages/palimpsest/src/wire/a.ts#f'],
    ['wire/a.ts', "import type { x } from './a.ts'", 'cycle: packages/palimpsest/src/wire/a.ts'],
  ])('%s with %j', (path, text, expected) => {
    expect(brokenIn([[path, text]])).toEqual([expected])
  })

  test.each([
    ['wire/a.ts', `const f = () => {\n${lines(FUNCTION_LINES_MAX - 2)}}`],
    ['wire/a.ts', 'export function f(a, b, c, d) {}'],
    ['wire/a.test.ts', "import { x } from 'node:fs'"],
    ['wire/a.test.ts', "import { x } from '../../../../test/kit/cases.ts'"],
    ['transcript/a.ts', "import { x } from '../tokens/estimate.ts'"],
    ['lab/simulator/a.ts', "import { x } from '../offline/answer.ts'"],
    ['engine/a.ts', "import { x } from '../layers/4-compaction/plan.ts'"],
    ['engine/index.ts', "export { x } from '../request/a.ts'"],
    ['loop/a.ts', "import type { x } from '../layers/2-micro-compaction/policy.ts'"],
    ['loop/a.test.ts', "import { x } from '../layers/2-micro-compaction/server-clearing.ts'"],
    ['lab/replay/a.ts', "import { x } from '../../layers/2-micro-compaction/stand-in.ts'"],
    ['engine/a.ts', 'export const x = (at: number) => new Date(at).toISOString()'],
    ['engine/a.ts', 'export const x = (at: Date) => Date.parse(text) - Math.floor(at.getTime())'],
    ['engine/a.ts', 'export const x = ports.process'],
    ['engine/a.ts', 'export const x = (size) => ({ auto: size })'],
    ['situation/a.ts', 'export const x = (thresholds) => thresholds.auto'],
    ['engine/a.ts', "import { placed } from '../situation/session.ts'"],
    ['context/a.ts', "import { appendTo } from '../situation/session.ts'"],
    ['node/database.ts', ''],
  ])('not on %s with %j', (path, text) => {
    expect(brokenIn([[path, text]])).toEqual([])
  })

  test('the CLI may not import internals of the library', () => {
    const path = `${CLI}/commands/sim.ts`
    const text = "import { x } from '../../../palimpsest/src/wire/a.ts'"
    expect(violationsOf([describeSource(path, parseSource(path, text))]).map(({ rule }) => rule)).toEqual([
      'cli',
    ])
  })

  test.each([
    ['tui/talk.ts', '../print/output.ts', 'faces'],
    ['run/prepare-run.ts', '../tui/talk.ts', 'faces'],
    ['commands/agent.ts', '../tui/talk.ts', undefined],
  ])('a face imports no other face: %s with %s', (name, target, rule) => {
    const path = `${CLI}/${name}`
    const source = describeSource(path, parseSource(path, `import { x } from '${target}'`))
    expect(violationsOf([source]).map((violation) => violation.rule)).toEqual(rule ? [rule] : [])
  })

  test('the measure and the digest may not import each other', () => {
    const broken = brokenIn([
      ['lab/replay/measure.ts', "import { x } from './words.ts'"],
      ['lab/replay/words.ts', "import { x } from '../../engine/identifiers.ts'"],
      ['layers/2-micro-compaction/digest.ts', "import { x } from '../../engine/identifiers.ts'"],
      ['engine/identifiers.ts', "import { x } from '../wire/a.ts'"],
      ['wire/a.ts', ''],
    ])
    expect(broken).toContain('judge: packages/palimpsest/src/engine/identifiers.ts')
  })
})

describe('a folder', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, i): [string, string] => [`${folder}/file-${i}.ts`, ''])

  test('has subfolders before it has too many files', () => {
    expect(brokenIn(files('wire', FOLDER_FILES_MAX))).toEqual([])
    expect(brokenIn(files('wire', FOLDER_FILES_MAX + 1))).toEqual([`folder size: ${LIBRARY}/wire`])
    expect(
      brokenIn([...files('wire', FOLDER_FILES_MAX), ...files('wire/room', 2), ['wire/a.test.ts', '']]),
    ).toEqual([])
  })

  test('called engine is small, however many subfolders it has', () => {
    expect(brokenIn([...files('engine', ENGINE_FILES_MAX - 1), ...files('engine/room', 1)])).toEqual([])
    expect(brokenIn([...files('engine', ENGINE_FILES_MAX - 1), ...files('engine/room', 2)])).toEqual([
      `folder size: ${LIBRARY}/engine`,
    ])
  })
})

function largeTypesOf({ path, types }: SourceInfo): [where: string, fields: number][] {
  return types
    .filter(({ fields }) => fields > LARGE_TYPE_FIELDS)
    .map(({ name, fields }) => [`${path}#${name}`, fields])
}

function brokenIn(files: readonly (readonly [string, string])[]): string[] {
  const all = files.map(([name, text]) => {
    const path = `${LIBRARY}/${name}`
    return describeSource(path, parseSource(path, text))
  })
  return violationsOf(all).map(({ rule, where }) => `${rule}: ${where}`)
}

function violationsOf(all: readonly SourceInfo[]): Violation[] {
  const library = all.filter((source) => inside(source.path) !== undefined)
  const shipped = all.filter((source) => source.path.startsWith('packages/') && !source.isTest)
  return [
    ...library.flatMap(directionOf),
    ...library.flatMap(outsideOf),
    ...all.flatMap((source) =>
      source.path.startsWith(`${CLI}/`) ? [...cliOf(source), ...facesOf(source)] : [],
    ),
    ...all.flatMap(sizeOf),
    ...foldersOf(shipped),
    ...all.flatMap(nameOf),
    ...shipped.flatMap(computedOf),
    ...shipped.flatMap(purityOf),
    ...shipped.flatMap(appendOf),
    ...cyclesOf(all),
    ...judgeOf(library),
  ]
}

function isExcepted(violation: Violation): boolean {
  return EXCEPTIONS.some((exception) => matches(exception, violation))
}

function matches(exception: { rule: string; where: string }, violation: Violation): boolean {
  return exception.rule === violation.rule && exception.where === violation.where
}

/** `layers/2-micro-compaction/plan.ts` → `layers/2-micro-compaction/plan`, for files of the library. */
function inside(path: string): string | undefined {
  return path.startsWith(`${LIBRARY}/`)
    ? path.slice(LIBRARY.length + 1).replace(/(\.d)?\.ts$/, '')
    : undefined
}

function partOf(place: string): string {
  const [first = place, second] = place.split('/')
  const isRoom =
    first === 'lab' ||
    (first === 'conversation' && second === 'agent') ||
    (first === 'context' && second === 'library') ||
    (first === 'node' && second === 'recall-index')
  return isRoom && second !== undefined ? `${first}/${second}` : first
}

function isIndex(place: string): boolean {
  return place === 'index' || place.endsWith('/index')
}

function directionOf(source: SourceInfo): Violation[] {
  const from = inside(source.path) ?? ''
  const allowed = isIndex(from) && from !== 'index' ? [] : MAY_IMPORT[partOf(from)]
  if (from === 'core-globals') return []
  if (allowed === undefined) {
    return [{ rule: 'direction', where: from, what: `${partOf(from)} stands in no row of the table` }]
  }
  const forTests = source.isTest ? (TESTS_MAY_IMPORT[partOf(from)] ?? []) : []
  return source.imports.flatMap((edge): Violation[] => {
    const to = edge.path === undefined ? undefined : inside(edge.path)
    if (to === undefined) return []
    const where = `${from} → ${to}`
    if (isIndex(from) && to === GATE) return []
    if (isIndex(to)) return [{ rule: 'index', where, what: 'import the file itself' }]
    const isListed = partOf(from) === partOf(to) || LISTS[partOf(from)]?.includes(partOf(to))
    if (isIndex(from) && from !== 'index' && isListed) return []
    if (isIndex(from) && from !== 'index') {
      return [{ rule: 'index', where, what: `it does not list ${partOf(to)}` }]
    }
    if (PLAN.test(from) && partOf(to) === 'ports') {
      return [{ rule: 'plan', where, what: 'ask for data, not for ports' }]
    }
    if (partOf(from) === 'layers' && partOf(to) === 'layers' && layerOf(from) !== layerOf(to)) {
      return [{ rule: 'layer', where, what: `${layerOf(from)} must not know ${layerOf(to)}` }]
    }
    if (partOf(from) === partOf(to) || [...allowed, ...forTests].some((prefix) => begins(to, prefix)))
      return []
    return [
      { rule: 'direction', where, what: `${partOf(from)} may import ${allowed.join(', ') || 'nothing'}` },
    ]
  })
}

function begins(place: string, prefix: string): boolean {
  return partOf(place) === prefix || (prefix.includes('/') && place.startsWith(prefix))
}

function layerOf(place: string): string {
  return place.split('/')[1] ?? ''
}

/** Packages and Node. Tests may use what tests are made of. */
function outsideOf(source: SourceInfo): Violation[] {
  const from = inside(source.path) ?? ''
  if (source.isTest) return []
  return source.imports.flatMap((edge): Violation[] => {
    if (edge.specifier === COMPUTED) return []
    if (edge.path !== undefined && inside(edge.path) !== undefined) return []
    if (edge.specifier.startsWith('node:') && from.startsWith('node/')) return []
    // A provider is the adapter of an SDK, which is an optional peer.
    if (partOf(from) === 'providers' && edge.path === undefined && !edge.specifier.startsWith('node:'))
      return []
    return [{ rule: 'outside', where: `${from} → ${edge.specifier}`, what: 'the library stands alone' }]
  })
}

function computedOf({ path, imports }: SourceInfo): Violation[] {
  return imports.flatMap(({ specifier }): Violation[] =>
    specifier === COMPUTED ? [{ rule: 'computed', where: path, what: 'write its path out' }] : [],
  )
}

function cliOf(source: SourceInfo): Violation[] {
  return source.imports.flatMap((edge): Violation[] => {
    const leaves = edge.path !== undefined && !edge.path.startsWith(`${CLI}/`)
    if (!leaves || (source.isTest && edge.path.startsWith('test/'))) return []
    return [{ rule: 'cli', where: `${source.path} → ${edge.specifier}`, what: "import 'palimpsest/…'" }]
  })
}

function facesOf(source: SourceInfo): Violation[] {
  if (source.isTest) return []
  const roomOf = (path: string): string => path.slice(CLI.length + 1).split('/')[0] ?? ''
  const forbidden = FACES[roomOf(source.path)] ?? []
  return source.imports.flatMap((edge): Violation[] => {
    if (!edge.path?.startsWith(`${CLI}/`) || !forbidden.includes(roomOf(edge.path))) return []
    return [{ rule: 'faces', where: `${source.path} → ${edge.path}`, what: 'what both need is in run/' }]
  })
}

function sizeOf(source: SourceInfo): Violation[] {
  if (source.isTest) return []
  const where = source.path
  const long = source.lines > FILE_LINES_MAX
  return [
    ...(long ? [{ rule: 'file size' as const, where, what: `${source.lines} lines` }] : []),
    ...source.functions.flatMap(({ name, lines, parameters }) => [
      ...(lines > FUNCTION_LINES_MAX
        ? [{ rule: 'function size' as const, where: `${where}#${name}`, what: `${name} has ${lines} lines` }]
        : []),
      ...(parameters > PARAMETERS_MAX
        ? [
            {
              rule: 'parameters' as const,
              where: `${where}#${name}`,
              what: `${name} takes ${parameters} parameters`,
            },
          ]
        : []),
    ]),
  ]
}

function foldersOf(shipped: readonly SourceInfo[]): Violation[] {
  const counts = new Map<string, number>()
  for (const { path } of shipped) {
    const isEngine = path.startsWith(`${LIBRARY}/engine/`)
    const folder = isEngine ? `${LIBRARY}/engine` : dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].flatMap(([where, count]): Violation[] => {
    const most = where === `${LIBRARY}/engine` ? ENGINE_FILES_MAX : FOLDER_FILES_MAX
    return count > most ? [{ rule: 'folder size', where, what: `${count} source files` }] : []
  })
}

function nameOf({ path }: SourceInfo): Violation[] {
  const names = path.split('/').map((name) => name.replace(/\..*$/, ''))
  const forbidden = names.find((name) => FORBIDDEN_NAMES.test(name))
  return forbidden === undefined ? [] : [{ rule: 'name', where: path, what: `"${forbidden}" says nothing` }]
}

function purityOf(source: SourceInfo): Violation[] {
  const part = partOf(inside(source.path) ?? '')
  const where = source.path
  const impure = CORE.has(part) ? IMPURE.filter((name) => source.mentions.has(name)) : []
  const environment = ['process.env', 'process.argv'].filter((name) => source.mentions.has(name))
  return [
    ...impure.map((name) => ({ rule: 'pure' as const, where, what: name })),
    ...(source.reads.has(FULL_MARK) && !where.startsWith(DECIDES_FULLNESS)
      ? [{ rule: 'fullness' as const, where, what: `it reads ${FULL_MARK}: ask fullAt` }]
      : []),
    ...(where === STARTER ? [] : processesOf(source)),
    ...(where === READER || where === `${CLI}/main.ts` ? [] : readingOf(source)),
    ...(where === `${CLI}/main.ts`
      ? []
      : environment.map((name) => ({ rule: 'environment' as const, where, what: name }))),
  ]
}

function appendOf(source: SourceInfo): Violation[] {
  if (APPENDING_TOO.some(({ where }) => where === source.path)) return []
  return appendsIn(source).map((what) => ({ rule: 'append', where: source.path, what }))
}

/** What it has to do with appending and the rooms that append do not need to have. */
function appendsIn({ path, imports, reads }: SourceInfo): readonly string[] {
  const place = inside(path) ?? ''
  if (path === APPENDER) return []
  const taken = imports.flatMap((edge) =>
    edge.path === APPENDER || edge.specifier === 'palimpsest/engine' ? edge.names : [],
  )
  const may = APPENDING.includes(partOf(place)) || isIndex(place)
  const names = may ? [] : taken.filter((name) => APPENDERS.includes(name) || name === '*')
  return [...names, ...(reads.has('append') ? ['.append'] : [])]
}

function readingOf({ path, imports }: SourceInfo): Violation[] {
  return imports.flatMap(({ specifier, names }): Violation[] =>
    /^(node:)?fs(\/promises)?$/.test(specifier)
      ? names
          .filter((name) => READING.includes(name))
          .map((name) => ({ rule: 'reading', where: path, what: name }))
      : [],
  )
}

function processesOf({ path, imports }: SourceInfo): Violation[] {
  return imports.flatMap(({ specifier, typeOnly }): Violation[] =>
    /^(node:)?(child_process|cluster)$/.test(specifier) && !typeOnly
      ? [{ rule: 'process', where: path, what: specifier }]
      : [],
  )
}

/** One violation per knot of files that all reach each other, named by the first of them. */
function cyclesOf(all: readonly SourceInfo[]): Violation[] {
  const left = onTheWayToCycles(all)
  const reached = new Map(left.map((source) => [source.path, reachable(left, importsOf(left, source))]))
  const knots = new Map<string, string[]>()
  for (const path of [...reached.keys()].toSorted()) {
    if (!reached.get(path)?.has(path)) continue
    const first = [...knots.keys()].find(
      (other) => reached.get(path)?.has(other) && reached.get(other)?.has(path),
    )
    if (first === undefined) knots.set(path, [path])
    else knots.get(first)?.push(path)
  }
  return [...knots].map(([where, knot]) => ({ rule: 'cycle', where, what: knot.join(' ↔ ') }))
}

/** Without those that import none of the others that are left, again and again: most of all sources, or all. */
function onTheWayToCycles(all: readonly SourceInfo[]): readonly SourceInfo[] {
  const paths = new Set(all.map(({ path }) => path))
  const left = all.filter(({ imports }) => imports.some(({ path }) => path !== undefined && paths.has(path)))
  return left.length === all.length ? all : onTheWayToCycles(left)
}

function importsOf(all: readonly SourceInfo[], source: SourceInfo): SourceInfo[] {
  return all.filter(({ path }) => source.imports.some((edge) => edge.path === path))
}

/** Both may know data and the wire. Neither may lean on the other's idea of what an identifier is. */
function judgeOf(all: readonly SourceInfo[]): Violation[] {
  const measure = all.filter(({ path, isTest }) => !isTest && inside(path)?.startsWith('lab/replay/measure'))
  const digest = all.filter(
    ({ path, isTest }) => !isTest && /^layers\/2-micro-compaction\/.*digest/.test(inside(path) ?? ''),
  )
  const judged = reachable(all, digest)
  return [...reachable(all, measure)]
    .filter((path) => judged.has(path) && !MIDDLE.includes(partOf(inside(path) ?? '')))
    .map((path) => ({
      rule: 'judge' as const,
      where: path,
      what: 'both the measure and the digest reach it',
    }))
}

function reachable(all: readonly SourceInfo[], from: readonly SourceInfo[]): Set<string> {
  const byPath = new Map(all.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const queue = from.map((source) => source.path)
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    const edges: readonly Import[] = byPath.get(path)?.imports ?? []
    queue.push(...edges.flatMap((edge) => edge.path ?? []))
  }
  return reached
}
