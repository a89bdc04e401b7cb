// Texts of request bodies. A conversation sends its whole history with every request, so a text is kept as what is new against one of
// the texts before it.

/** Texts that a new one is compared with. */
const COMPARED_MAX = 4
/** A whole text is kept at least this often, so that reading one back stays cheap. */
const STEPS_MAX = 64
/** Texts are compared in stretches of so many characters, which is as fast as memory; where they differ, in shorter ones. */
const STRETCHES = [65_536, 1_024, 32] as const
/** A difference larger than this share of the text is not worth a chain. */
const MIDDLE_SHARE_MAX = 0.5

export type StoredBody =
  | { readonly kind: 'whole'; readonly text: string; readonly steps: 0 }
  | {
      readonly kind: 'changed'
      readonly base: StoredBody
      /** Characters shared at the start and at the end. */
      readonly head: number
      readonly tail: number
      /** With an end that may fall into a surrogate pair. */
      readonly middle: string
      readonly steps: number
    }

export interface BodyStore {
  readonly recent: { readonly body: StoredBody; readonly text: string }[]
}

export function createBodyStore(): BodyStore {
  return { recent: [] }
}

export function storeBody(store: BodyStore, text: string): StoredBody {
  const body = closestChange(store, text) ?? { kind: 'whole', text, steps: 0 }
  store.recent.push({ body, text })
  if (store.recent.length > COMPARED_MAX) store.recent.shift()
  return body
}

/** Texts read back lately: whoever reads a log from its start reads each from the one before. */
export type ReadBodies = Map<StoredBody, string>

export function readBody(body: StoredBody, read: ReadBodies = new Map()): string {
  const changes: Extract<StoredBody, { kind: 'changed' }>[] = []
  let at = body
  while (at.kind === 'changed' && !read.has(at)) {
    changes.push(at)
    at = at.base
  }
  const start = read.get(at) ?? (at.kind === 'whole' ? at.text : '')
  const text = changes.reduceRight((before, { head, tail, middle }) => {
    const end = tail === 0 ? '' : before.slice(-tail)
    return before.slice(0, head) + middle + end
  }, start)
  read.set(body, text)
  for (const old of read.keys()) {
    if (read.size <= COMPARED_MAX) break
    read.delete(old)
  }
  return text
}

/** Characters that keeping this body takes. */
export function storedChars(body: StoredBody): number {
  return body.kind === 'whole' ? body.text.length : body.middle.length
}

function closestChange({ recent }: BodyStore, text: string): StoredBody | undefined {
  let best: { readonly base: StoredBody; readonly head: number; readonly tail: number } | undefined
  for (const { body, text: other } of recent) {
    if (body.steps >= STEPS_MAX) continue
    const head = commonHead(text, other)
    const tail = commonTail(text, other, head)
    if (!best || head + tail > best.head + best.tail) best = { base: body, head, tail }
  }
  if (!best) return undefined
  const { base, head, tail } = best
  const middle = text.slice(head, text.length - tail)
  if (middle.length > text.length * MIDDLE_SHARE_MAX) return undefined
  return { kind: 'changed', base, head, tail, middle: withoutWhole(middle), steps: base.steps + 1 }
}

function commonHead(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  for (const chars of STRETCHES)
    while (at + chars <= most && a.slice(at, at + chars) === b.slice(at, at + chars)) at += chars
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

function commonTail(a: string, b: string, head: number): number {
  const most = Math.min(a.length, b.length) - head
  let at = 0
  for (const chars of STRETCHES) while (at + chars <= most && sameBefore(a, b, at, chars)) at += chars
  while (at < most && a.charCodeAt(a.length - 1 - at) === b.charCodeAt(b.length - 1 - at)) at++
  return at
}

function sameBefore(a: string, b: string, at: number, chars: number): boolean {
  const ends = [a.length - at, b.length - at] as const
  return a.slice(ends[0] - chars, ends[0]) === b.slice(ends[1] - chars, ends[1])
}

/** A slice of a string keeps the whole of it alive. What is joined is written anew, as fast as memory. */
function withoutWhole(slice: string): string {
  return [slice.slice(0, 1), slice.slice(1)].join('')
}
