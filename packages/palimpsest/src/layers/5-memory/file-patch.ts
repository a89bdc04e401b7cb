import { hashText, type Hash } from '../../wire/hash.ts'
import type { FilePatch } from '../../memory-files.ts'

// What a change did to one file, so that it can be repeated after a crash, shown, and undone to the byte.

/** Null if there is no file. */
export type FileText = string | null

export function makePatch(file: string, before: FileText, after: FileText): FilePatch {
  const [old, fresh] = [before ?? '', after ?? '']
  // Whole lines, because people read it too.
  const at = old.slice(0, commonStart(old, fresh)).lastIndexOf('\n') + 1
  const end = wholeLines(old, commonEnd(old.slice(at), fresh.slice(at)))
  return {
    file,
    before: before === null ? null : markOf(before),
    after: after === null ? null : markOf(after),
    at,
    removed: old.slice(at, old.length - end),
    added: fresh.slice(at, fresh.length - end),
  }
}

/** The file after the change; undefined if this is not the file that the patch was made from. */
export function applyPatch(patch: FilePatch, text: FileText): FileText | undefined {
  const { before, after, at, removed, added } = patch
  return splice(text, { from: before, to: after, at, removed, added })
}

/** The file before the change; undefined if this is not what the patch made. */
export function revertPatch(patch: FilePatch, text: FileText): FileText | undefined {
  const { before, after, at, removed, added } = patch
  return splice(text, { from: after, to: before, at, removed: added, added: removed })
}

interface Splice {
  readonly from: FilePatch['before']
  readonly to: FilePatch['before']
  readonly at: number
  readonly removed: string
  readonly added: string
}

function splice(text: FileText, { from, to, at, removed, added }: Splice): FileText | undefined {
  if (!isAt(text, from)) return undefined
  if (to === null) return null
  const old = text ?? ''
  return old.slice(0, at) + added + old.slice(at + removed.length)
}

/** Whether the file is the one that the mark was taken from. */
export function isAt(text: FileText, mark: FilePatch['before']): boolean {
  if (text === null || mark === null) return text === null && mark === null
  return hashText(text) === mark.hash
}

function markOf(text: string): { readonly hash: Hash; readonly bytes: number } {
  return { hash: hashText(text), bytes: new TextEncoder().encode(text).length }
}

/** The end of a text, starting at a line's beginning. */
function wholeLines(text: string, end: number): number {
  const at = text.length - end
  if (at === 0 || text[at - 1] === '\n') return end
  const next = text.indexOf('\n', at)
  return next === -1 ? 0 : text.length - next - 1
}

function commonStart(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let at = 0
  while (at < max && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

function commonEnd(a: string, b: string): number {
  const max = Math.min(a.length, b.length)
  let end = 0
  while (end < max && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
  return end
}
