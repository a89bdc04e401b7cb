import { resolve } from 'node:path'

import { UsageError } from 'palimpsest'
import type { Strategy } from 'palimpsest/replay'
import { parseTokens } from 'palimpsest/tokens'

import type { Command, CommandInput } from './command.ts'
import type { SessionFile } from '../replay/find-session-files.ts'
import type { ReplayDocument } from '../replay/replay-document.ts'
import type { SessionTask } from '../replay/session-task.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'

export const replay: Command = {
  name: 'replay',
  usage: '[FILE|FOLDER…] [options]',
  summary: 'replay recorded sessions, and compare what strategies cost and keep',
  options: {
    strategy: { type: 'string' },
    window: { type: 'string' },
    model: { type: 'string' },
    ablation: { type: 'boolean' },
    details: { type: 'boolean' },
    json: { type: 'boolean' },
    html: { type: 'string' },
    views: { type: 'string' },
  },
  wordsMax: Infinity,
  run: runReplay,
}

const WINDOW_DEFAULT = 200_000

/** With a smaller window, no recorded agent's first prompt leaves room for a conversation. */
const WINDOW_MIN = 10_000

const NARROW_COLUMNS = 80

/** From here on the intervals take seconds. */
const SESSIONS_SLOWLY_DRAWN = 20

interface Asked {
  /** No files were named: these are the user's own sessions. */
  readonly isOwn: boolean
  readonly files: readonly SessionFile[]
  readonly strategies: readonly Strategy[]
  readonly windows: readonly number[]
  readonly model?: string
  readonly debug: boolean
}

async function runReplay({ flags, words }: CommandInput, world: World): Promise<ExitCode> {
  const views = textFlag(flags, 'views')
  const html = textFlag(flags, 'html')
  const asked = await readAsked({ flags, words }, world)
  const page = html === undefined ? undefined : await checkPage(resolve(world.cwd, html))
  if (views !== undefined) await writeViewsFile(asked, resolve(world.cwd, views), world)
  const { document, failed } = await replayAll(asked, world)
  const { report } = document
  const { aborted } = world.signal
  if (aborted && report.sessions.length === 0) {
    world.printError('palimpsest: stopped before the first session was finished\n')
    return FAILED
  }
  if (report.sessions.length === 0 && !failed)
    throw new UsageError(
      'nothing to replay: none of these files is a recorded session that Palimpsest can use; see above',
    )
  if (page !== undefined) await writePage(page, document, world)
  if (flags['json'] === true) {
    const { withControlsMarked } = await import('../replay/compared.ts')
    world.print(`${JSON.stringify(withControlsMarked(report), null, 1)}\n`)
  } else world.print(await printed(document, flags, world))
  if (aborted)
    world.printError(
      `palimpsest: stopped; this report covers ${report.sessions.length} of ${asked.files.length} files\n`,
    )
  return failed || aborted ? FAILED : DONE
}

async function readAsked({ flags, words }: CommandInput, world: World): Promise<Asked> {
  const { ABLATIONS, STRATEGIES } = await import('palimpsest/replay')
  const compared = await import('../replay/compared.ts')
  const { CONTROLS, OWN, UNMANAGED } = compared
  const model = textFlag(flags, 'model')
  const wish = wishedStrategies(textFlag(flags, 'strategy'), compared)
  if (flags['views'] !== undefined && wish.control !== undefined)
    throw new UsageError(
      `--views with the control "${wish.control}": a control judges the measure and sends nothing. Name a strategy`,
    )
  const asked = {
    strategies: chosenStrategies(wish.names, {
      main: STRATEGIES,
      ablations: ABLATIONS,
      withAblations: flags['ablation'] === true,
      always: flags['ablation'] === true ? [UNMANAGED, OWN] : [UNMANAGED],
      controls: CONTROLS,
    }),
    windows: chosenWindows(textFlag(flags, 'window')),
    ...(model !== undefined && { model }),
    debug: flags['debug'] === true,
  }
  if (flags['views'] !== undefined && (asked.strategies.length > 2 || asked.windows.length > 1))
    throw new UsageError('--views writes what one strategy sends in one window: add --strategy NAME')
  if (words.length === 0) return { ...asked, isOwn: true, files: await ownFiles(world) }
  const { findSessionFiles } = await import('../replay/find-session-files.ts')
  return { ...asked, isOwn: false, files: await findSessionFiles(words, world.cwd) }
}

async function ownFiles(world: World): Promise<readonly SessionFile[]> {
  const { findOwnSessions } = await import('../replay/find-own-sessions.ts')
  const { files, left, folders } = await findOwnSessions(world)
  if (files.length === 0)
    throw new UsageError(
      `no sessions of your own in ${folders.join(', ')}: name recorded sessions, or folders that contain some`,
    )
  const older = left > 0 ? `; ${left} older ones are left out; name their folder to replay them` : ''
  world.printError(`palimpsest: your own sessions, newest first: ${files.length}${older}\n`)
  return files
}

interface Choice {
  readonly main: readonly Strategy[]
  readonly ablations: readonly Strategy[]
  readonly withAblations: boolean
  /** What the others are compared with. */
  readonly always: readonly string[]
  readonly controls: readonly string[]
}

/**
 * A control may be named among the strategies. Every report has controls at the size of each strategy; if only a control is named,
 * palimpsest is added.
 */
function wishedStrategies(text = 'all', { CONTROLS, OWN, UNMANAGED }: Compared): Wish {
  const names = text.split(',').map((name) => name.trim())
  const isControl = (name: string): boolean => CONTROLS.includes(name)
  const control = names.find(isControl)
  const strategies = names.filter((name) => !isControl(name))
  if (control === undefined) return { names: strategies }
  const hasSize = strategies.some((name) => name !== UNMANAGED)
  return { names: hasSize ? strategies : [...strategies, OWN], control }
}

interface Compared {
  readonly CONTROLS: readonly string[]
  readonly OWN: string
  readonly UNMANAGED: string
}

interface Wish {
  readonly names: readonly string[]
  /** The first control among the names. */
  readonly control?: string
}

/** Ablations are chosen by name, or all of them by `--ablation`. */
function chosenStrategies(
  names: readonly string[],
  { main, ablations, withAblations, always, controls }: Choice,
): readonly Strategy[] {
  const added = [...always, ...(withAblations ? ablations.map(({ name }) => name) : [])]
  if (names.includes('all')) return withAblations ? [...main, ...ablations] : main
  const all = [...main, ...ablations]
  const stranger = names.find((name) => all.every((strategy) => strategy.name !== name))
  if (stranger !== undefined) {
    const known = all.map((strategy) => strategy.name).join(', ')
    throw new UsageError(
      `no strategy "${stranger}"; choose from ${known}, or all. Controls, which are in every report: ${controls.join(', ')}`,
    )
  }
  return all.filter(({ name }) => names.includes(name) || added.includes(name))
}

function chosenWindows(text: string | undefined): readonly number[] {
  if (text === undefined) return [WINDOW_DEFAULT]
  const windows = text.split(',').map((word) => {
    const { value } = parseTokens('--window', word)
    if (value === undefined || value < WINDOW_MIN)
      throw new UsageError(`--window ${word}: give a number of tokens, ${WINDOW_MIN} or more, such as 200000`)
    return value
  })
  return [...new Set(windows)]
}

async function replayAll(
  { isOwn, files, strategies, windows, model, debug }: Asked,
  world: World,
): Promise<{ readonly document: ReplayDocument; readonly failed: boolean }> {
  const { runTasks } = await import('../replay/run-tasks.ts')
  const { firstLookFirst, largestFirst } = await import('../replay/task-order.ts')
  const { createProgress } = await import('../replay/terminal/show-progress.ts')
  const { createInterim } = await import('../replay/terminal/show-interim.ts')
  const { createGathering } = await import('../replay/replay-document.ts')
  const names = strategies.map(({ name }) => name)
  const tasks = files.map((file, index): SessionTask => ({
    index,
    file,
    strategies: names,
    windows,
    ...(model !== undefined && { model }),
  }))
  const gathering = createGathering()
  const skipped = new Map<number, string>()
  let failed = false
  let done = 0
  const showProgress = createProgress(tasks, world, { namesSkipped: !isOwn, debug })
  const showInterim = createInterim(tasks, world)
  await runTasks(
    isOwn ? firstLookFirst(tasks) : largestFirst(tasks),
    (message) => {
      showProgress(message)
      showInterim(message)
      if (message.kind === 'done') {
        done++
        gathering.add(message.index, message.report, message.traces)
      }
      if (message.kind === 'skipped') skipped.set(message.index, message.why)
      if (message.kind === 'failed') failed = true
    },
    world.signal,
  )
  if (isOwn && skipped.size > 0)
    world.printError(`palimpsest: files with nothing to replay: ${skipped.size}; --json names them\n`)
  if (done >= SESSIONS_SLOWLY_DRAWN)
    world.printError('palimpsest: computing intervals over the finished sessions\n')
  const why = files.flatMap(({ name }, index) => {
    const reason = skipped.get(index)
    return reason === undefined ? [] : [{ file: name, why: reason }]
  })
  return { document: gathering.end(windows, why), failed }
}

/** On a terminal prints the verdict; with --details or --ablation, or in a pipe, everything. */
async function printed(
  document: ReplayDocument,
  flags: CommandInput['flags'],
  world: World,
): Promise<string> {
  const { printReport, printSummary } = await import('../replay/terminal/print-report.ts')
  const columns = world.terminal?.columns ?? (Number(world.env['COLUMNS']) || NARROW_COLUMNS)
  const colours = world.terminal !== undefined && !world.env['NO_COLOR']
  const isWhole = !world.terminal || flags['details'] === true || flags['ablation'] === true
  return (isWhole ? printReport : printSummary)(document, { columns, colours })
}

/** Reports a path that cannot be written at once; the old content stays until there is a page. */
async function checkPage(path: string): Promise<string> {
  const { checkOutputFile } = await import('../print/output-file.ts')
  await checkOutputFile('--html', path)
  return path
}

async function writePage(path: string, document: ReplayDocument, world: World): Promise<void> {
  const { renderPage } = await import('../replay/page/render-page.ts')
  const { writeOutputFile } = await import('../print/output-file.ts')
  await writeOutputFile('--html', path, renderPage(document, { version: world.version, at: world.now() }))
}

async function writeViewsFile(asked: Asked, path: string, world: World): Promise<void> {
  const { writeOutputFile } = await import('../print/output-file.ts')
  await writeOutputFile('--views', path, viewLines(asked, world))
}

async function* viewLines(
  { files, strategies, windows, model }: Asked,
  world: World,
): AsyncGenerator<string> {
  const { loadSession } = await import('../replay/load-session.ts')
  const { writeViews } = await import('palimpsest/replay')
  const strategy = strategies.at(-1)
  for (const file of files) {
    const loaded = await loadSession(file, model)
    if ('why' in loaded || !strategy) continue
    for await (const line of writeViews(loaded.session, strategy, windows[0] ?? WINDOW_DEFAULT)) {
      if (world.signal.aborted) break
      yield `${line}\n`
    }
  }
}

function textFlag(flags: CommandInput['flags'], name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}
