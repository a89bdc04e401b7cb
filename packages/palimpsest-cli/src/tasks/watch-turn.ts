import type { LoopEvent } from 'palimpsest/loop'
import { isBlock, toBlocks } from 'palimpsest/wire'
import { basename } from 'node:path'

import { toPrintable } from '../agent/printable.ts'
import type { TaskState, TaskStatus } from './background-task.ts'

/** How many of the newest messages and calls are kept. */
const TURNS_MAX = 30
const TURN_CHARS_MAX = 200

export interface TurnWatch {
  readonly status: () => TaskStatus
  readonly see: (event: LoopEvent) => void
  readonly end: (state: Exclude<TaskState, 'starting' | 'updating'>, text: string) => void
}

export interface WatchSetup {
  /** What it is doing before its first call. */
  readonly text: string
  readonly now: () => number
  readonly onChange: () => void
  /** What an event says about the work. Absent: no such words. */
  readonly summarise?: ((event: LoopEvent) => string | undefined) | undefined
}

/** What a task is doing, from the events of its turn. */
export function watchTurn({ text: first, now, onChange, summarise }: WatchSetup): TurnWatch {
  let status: TaskStatus = {
    state: 'starting',
    text: first,
    toolCount: 0,
    files: [],
    turns: [],
    startedAt: now(),
  }
  const become = (more: Partial<TaskStatus>): void => {
    status = { ...status, ...more }
    onChange()
  }
  const withTurn = (text: string): readonly string[] =>
    text === '' ? status.turns : [...status.turns, text].slice(-TURNS_MAX)
  return {
    status: () => status,
    see: (event) => {
      const words = summarise?.(event)
      if (words !== undefined && words !== status.text) become({ text: words })
      if (event.type === 'message' && event.entry.message.role === 'assistant')
        become({ turns: withTurn(turnText(event.entry.message.content)) })
      if (event.type !== 'tool-end') return
      const written = event.denied === undefined ? writtenBy(event) : undefined
      become({
        toolCount: status.toolCount + 1,
        ...(written === undefined
          ? {}
          : { state: 'updating' as const, files: [...new Set([...status.files, written])] }),
      })
    },
    end: (state, text) => become({ state, text, endedAt: now() }),
  }
}

function turnText(content: Parameters<typeof toBlocks>[0]): string {
  const parts = toBlocks(content).flatMap((block) => {
    if (isBlock(block, 'text')) return [block.text.trim()]
    return isBlock(block, 'tool_use') ? [`${block.name} ${JSON.stringify(block.input)}`] : []
  })
  return toPrintable(parts.join(' · ').replaceAll(/\s+/g, ' ')).slice(0, TURN_CHARS_MAX)
}

function writtenBy({ name, entry }: Extract<LoopEvent, { type: 'tool-end' }>): string | undefined {
  if (name !== 'Write' && name !== 'Edit') return undefined
  const path = entry.files?.[0]?.path
  return path === undefined ? undefined : basename(path)
}
