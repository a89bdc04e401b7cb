import { mkdir } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'

import { drive } from '../../packages/palimpsest/src/drive.ts'
import type { RunWishes } from '../../packages/palimpsest-cli/src/run/set-scene.ts'
import type { CommandPlace } from '../../packages/palimpsest-cli/src/tui/commands/command-place.ts'
import { runCommand } from '../../packages/palimpsest-cli/src/tui/commands/run-command.ts'
import {
  hostConversation,
  type HostedConversation,
} from '../../packages/palimpsest-cli/src/tui/host/host-conversation.ts'
import { openLines } from '../../packages/palimpsest-cli/src/tui/line-ui.ts'
import type { CommandBench, CommandEnv } from './command-bench.ts'

const nobody = async (): Promise<never> => {
  throw new Error('unreachable: nobody is asked')
}
/** Somebody sits there, and is asked nothing. */
export const UNASKED: NonNullable<RunWishes['user']> = {
  permit: nobody,
  answer: nobody,
  trust: nobody,
  compact: nobody,
  plan: nobody,
}

/** What the screen shows and drives, without a terminal: a new conversation. */
export async function openScreen(
  bench: CommandBench,
  env: CommandEnv,
  user?: RunWishes['user'],
): Promise<HostedConversation> {
  await mkdir(bench.home, { recursive: true, mode: 0o700 })
  const world = bench.worldFor({ out: '', err: '' }, env)
  return await hostConversation({ ...wishesIn(bench), user }, bench.home, world)
}

function wishesIn({ folder }: Pick<CommandBench, 'folder'>): RunWishes {
  return {
    prompt: '',
    cwd: folder,
    session: { kind: 'new' },
    trust: false,
    allowed: [],
    roundsMax: 20,
    systemPrompt: {},
    debug: false,
  }
}

export interface TypedCommands {
  readonly place: CommandPlace
  /** Types answers to questions, in order. */
  readonly answer: (...lines: readonly string[]) => void
  /** What a command typed behind a slash shows. */
  readonly run: (command: string) => Promise<string>
}

/** Commands of a conversation, with lines for a screen. */
export function typeCommands(bench: CommandBench, conversation: HostedConversation): TypedCommands {
  const { signal } = new AbortController()
  const shown: string[] = []
  const input = new PassThrough()
  const console = {
    input: input as unknown as ReadStream,
    output: new PassThrough() as unknown as WriteStream,
    size: () => ({ columns: 100, rows: 24 }),
    write: (written: string) => void shown.push(written),
    setOtherScreen: () => undefined,
    takeInterrupts: () => () => undefined,
    open: () => undefined,
    close: () => undefined,
    suspend: async () => undefined,
  }
  const place: CommandPlace = {
    conversation,
    wishes: wishesIn(bench),
    ui: openLines(console, signal),
    world: bench.worldFor({ out: '', err: '' }, {}),
    follow: async (events) => await drive(events, () => undefined),
    interruptible: async (work) => await work(signal),
  }
  return {
    place,
    answer: (...lines) => void input.write(lines.map((line) => `${line}\n`).join('')),
    run: async (command) => {
      shown.length = 0
      await runCommand(command, place)
      return shown.join('')
    },
  }
}
