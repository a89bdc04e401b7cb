import type { Row, SessionReport, Trace } from 'palimpsest/replay'

import type { SessionFile } from './find-session-files.ts'

// What the command and its workers say to each other.

export interface SessionTask {
  readonly index: number
  readonly file: SessionFile
  readonly strategies: readonly string[]
  readonly windows: readonly number[]
  readonly model?: string
}

export type TaskMessage =
  | { readonly kind: 'row'; readonly index: number; readonly row: Row }
  | {
      readonly kind: 'done'
      readonly index: number
      readonly report: SessionReport
      readonly traces: readonly Trace[]
      readonly note?: string
    }
  | { readonly kind: 'skipped'; readonly index: number; readonly why: string }
  | { readonly kind: 'failed'; readonly index: number; readonly what: string; readonly stack: string }
