// Texts of request bodies. A conversation sends its whole history with every request, so we store a text as its difference from one of
// the texts before it.

/** How many earlier texts a new one is compared with. */
const COMPARED_MAX = 4
/** Longest chain of differences before a whole text is stored, so that reading stays cheap. */
const STEPS_MAX = 64
/** Texts are compared in stretches of this many characters, which is as fast as memory, then in shorter ones where they differ. */
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
      /** Its ends may split a surrogate pair. */
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

/** Texts read recently: when a log is read from its start, each text builds on the one before. */
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

/** Characters that storing this body takes. */
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

/** A slice of a string keeps the whole string alive. Joining makes a copy, as fast as memory. */
function withoutWhole(slice: string): string {
  return [slice.slice(0, 1), slice.slice(1)].join('')
}
