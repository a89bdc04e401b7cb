import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { conversationTokens } from 'palimpsest/wire'
import type { Stats } from 'palimpsest/simulator'

import { cutLine, line, paintLine, span, type StyledLine } from '../tui/text/styled-line.ts'
import type { WindowReading } from '../run/window-settings.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import { barLine, eventLines, nextLines, reportLines, type ShownResults } from './demo-lines.ts'
import { BREAK_MS, MODEL, playSession, type PlayEvent } from './play-session.ts'
import { readRecording, RECORDING, type RecordedSession } from './recorded-session.ts'

// Plays a recorded session live, in a window that it overflows several times; then compares its cost with the same session unmanaged.

const WINDOW_TOKENS = 36_000
/** Time for all answers together, on a terminal. */
const SHOW_MS = 55_000
const COLUMNS = 80
const MINUTE_MS = 60_000

export interface DemoOptions {
  /** No pauses, even on a terminal. */
  readonly isFast: boolean
}

export async function runDemo({ isFast }: DemoOptions, world: World): Promise<ExitCode> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'palimpsest-demo-')))
  try {
    const recorded = await readRecording(fileURLToPath(RECORDING))
    const show = openShow(recorded, isFast, world)
    const { signal } = world
    const folders = [join(root, 'managed'), join(root, 'unmanaged')] as const
    for (const folder of folders) await mkdir(folder)
    show.print(openingLines(recorded))
    const managed = await playSession(
      recorded,
      { window: WINDOW_TOKENS, folder: folders[0], told: show.told, signal },
      world,
    )
    const unmanaged = await playSession(
      recorded,
      { window: 'unmanaged', folder: folders[1], told: async () => undefined, signal },
      world,
    )
    show.end([
      [],
      ...reportLines({ managed, unmanaged }, { window: WINDOW_TOKENS, model: MODEL }),
      [],
      ...nextLines(),
    ])
    return DONE
  } catch (error) {
    if (!world.signal.aborted) throw error
    world.print('\nstopped; nothing is left over\n')
    return FAILED
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

function openingLines({ turns }: RecordedSession): readonly StyledLine[] {
  const answers = turns.reduce((sum, turn) => sum + turn.answers.length, 0)
  return [
    [span('palimpsest demo', 'heading')],
    line(`A session recorded with this agent, ${turns.length} turns and ${answers} answers, played through`),
    line(
      `its loop and layers in a window of ${WINDOW_TOKENS.toLocaleString('en')} tokens. A simulator of the Messages`,
    ),
    line('API answers and bills; nothing leaves this machine.'),
  ]
}

interface Show {
  readonly print: (lines: readonly StyledLine[]) => void
  readonly told: (event: PlayEvent) => Promise<void>
  /** The bar stays where it is, with these lines below it. */
  readonly end: (lines: readonly StyledLine[]) => void
}

/** On a terminal the bar is the last line and is redrawn; elsewhere it is printed at the end of a turn. */
function openShow({ turns }: RecordedSession, isFast: boolean, world: World): Show {
  const { terminal, env, signal } = world
  const columns = Math.min(terminal?.columns ?? COLUMNS, COLUMNS)
  const hasColour = terminal !== undefined && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  const redraws = terminal !== undefined && env['TERM'] !== 'dumb'
  const answers = turns.reduce((sum, turn) => sum + turn.answers.length, 0)
  const pauseMs = terminal === undefined || isFast ? 0 : SHOW_MS / answers
  const names = new Map<string, string>()
  const stored = new Set<string>()
  const shown: ShownResults = {
    nameOf: (id) => names.get(id) ?? 'a result',
    isNew: (id) => stored.size < stored.add(id).size,
  }
  let reading: WindowReading | undefined
  let gauge = { used: 0, bill: NO_BILL }
  const paint = (shown: StyledLine): string => paintLine(cutLine(shown, columns), hasColour)
  const bar = (): string => (reading ? paint(barLine(gauge, reading)) : '')
  const textOf = (lines: readonly StyledLine[]): string => lines.map((shown) => `${paint(shown)}\n`).join('')
  const print = (lines: readonly StyledLine[]): void => {
    const text = textOf(lines)
    world.print(redraws && reading ? `\r${ERASE}${text}${bar()}` : text)
  }
  const told = async (event: PlayEvent): Promise<void> => {
    switch (event.type) {
      case 'start':
        reading = event.reading
        return
      case 'turn':
        return print(turnLines(event))
      case 'turn-end':
        gauge = { ...gauge, bill: event.bill }
        return print(redraws || !reading ? [] : [barLine(gauge, reading)])
      case 'loop': {
        const { event: inner } = event
        if (inner.type === 'tool-start') names.set(inner.toolUseId, inner.name)
        if (inner.type === 'message' && inner.entry.usage)
          gauge = { used: conversationTokens(inner.entry.usage), bill: event.bill }
        const lines = eventLines(inner, shown)
        if (lines.length > 0) print(lines)
        if (inner.type === 'message' && inner.entry.usage && pauseMs > 0)
          await sleep(pauseMs, undefined, { signal })
        return
      }
      default:
        return event satisfies never
    }
  }
  return { print, told, end: (lines) => world.print(`${redraws ? '\n' : ''}${textOf(lines)}`) }
}

function turnLines({ turn, isAfterBreak }: Extract<PlayEvent, { type: 'turn' }>): readonly StyledLine[] {
  const minutes = BREAK_MS / MINUTE_MS
  const away = line(`  (${minutes} minutes pass: nothing is cached any more)`, 'dim')
  return [[], ...(isAfterBreak ? [away] : []), [span('> ', 'accent'), span(turn.prompt, 'bold')]]
}

const ERASE = '\u001b[2K'

const NO_BILL: Stats = {
  requests: 0,
  refused: {},
  tokens: { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, uncached: 0, output: 0 },
  cost_usd: 0,
  hit_rate: 0,
}
