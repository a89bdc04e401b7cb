import type { Json } from '../../../packages/palimpsest/src/wire/json.ts'
import type { Play } from './hostile-server.ts'

// What faults are made of: an answer as bytes on a wire.

export interface ProviderFault {
  readonly name: string
  readonly play: Play
  /** Large enough that memory is worth a look. */
  readonly isBig?: boolean
}

export const MB = 1024 * 1024
export const DEEP = 50_000

export const STREAM = 'content-type: text/event-stream\r\n'

export function head(more = '', status = '200 OK', version = 'HTTP/1.1'): string {
  return `${version} ${status}\r\n${STREAM}${more}connection: close\r\n\r\n`
}

export function answer(text: string | Uint8Array): Play {
  return async (wire) => {
    await wire.write(head())
    await wire.write(text)
    wire.end()
  }
}

export function raw(...parts: readonly (string | Uint8Array)[]): Play {
  return async (wire) => {
    for (const part of parts) await wire.write(part)
    wire.end()
  }
}

export function delta(index: number, value: Json): string {
  return `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index, delta: value })}\n\n`
}

export function block(index: number, content: Json): string {
  const start = { type: 'content_block_start', index, content_block: content }
  return `event: content_block_start\ndata: ${JSON.stringify(start)}\n\nevent: content_block_stop\ndata: {"type":"content_block_stop","index":${index}}\n\n`
}

/** Junk at the beginning, in the middle, before the end. */
