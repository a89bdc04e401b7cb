import type { Editor } from '../input/edit-text.ts'
import { emptyEditor } from '../input/edit-text.ts'
import type { Picker } from '../input/pick-item.ts'
import type { Pager } from '../pager/create-pager.ts'
import type { StyledLine } from '../text/styled-line.ts'
import type { LiveParts, UserAct } from '../ui.ts'

// What the screen shows at this moment. Keys change it, the canvas draws it.

export interface OpenQuestion {
  readonly picker: Picker
  readonly proposal: () => readonly StyledLine[]
  readonly answer: (value: string | undefined) => void
}

export interface ScreenState {
  live: LiveParts
  editor: Editor
  queue: UserAct[]
  waiting: ((act: UserAct) => void) | undefined
  interrupt: (() => void) | undefined
  asked: OpenQuestion | undefined
  /** Set while a line in the user's own words is asked for. */
  asking: ((text: string | undefined) => void) | undefined
  hint: string
  completion: number
  files: readonly string[] | undefined
  listFiles: () => Promise<readonly string[]>
  activeSince: number
  /** Set while a long text takes up the screen. */
  pager: Pager | undefined
  /** What Ctrl-O and Ctrl-T show; looked up on demand. */
  openTranscript: () => void
  openRemoved: () => void
  /** What Shift-Tab does; returns a text about the result. */
  changeMode: () => string
  /** What Ctrl-B does; undefined if there is nothing to move. */
  toBackground: () => string | undefined
}

const NO_LIVE: LiveParts = {
  streaming: () => [],
  printing: () => [],
  activity: '',
  status: [],
  agents: () => [],
}

export function createScreenState(): ScreenState {
  return {
    live: NO_LIVE,
    editor: emptyEditor(),
    queue: [],
    waiting: undefined,
    interrupt: undefined,
    asked: undefined,
    asking: undefined,
    hint: '',
    completion: 0,
    files: undefined,
    listFiles: async () => [],
    activeSince: 0,
    pager: undefined,
    openTranscript: () => undefined,
    openRemoved: () => undefined,
    changeMode: () => '',
    toBackground: () => undefined,
  }
}

export function give(state: ScreenState, act: UserAct): void {
  const { waiting } = state
  state.waiting = undefined
  if (waiting) waiting(act)
  else state.queue.push(act)
}

export async function nextAct(state: ScreenState, draw: () => void): Promise<UserAct> {
  const queued = state.queue.shift()
  draw()
  if (queued) return queued
  return await new Promise((resolve) => {
    state.waiting = resolve
  })
}
