import type { CacheControl } from '../wire/cache-control.ts'

// Breakpoints on blocks that someone else made.

export interface BlockMark {
  readonly block: number
  readonly control: CacheControl
}

/** The breakpoints on the blocks of one message. */
export function marksOn(content: string | readonly object[] | undefined): readonly BlockMark[] {
  if (typeof content === 'string' || content === undefined) return []
  return content.flatMap((item, block) => {
    const control = controlOf(item) ?? insideOf(item)
    return control ? [{ block, control }] : []
  })
}

export function controlOf(item: unknown): CacheControl | undefined {
  if (typeof item !== 'object' || item === null || !('cache_control' in item)) return undefined
  const control = item.cache_control
  if (typeof control !== 'object' || control === null) return undefined
  return { type: 'ephemeral', ...('ttl' in control && isTtl(control.ttl) ? { ttl: control.ttl } : {}) }
}

/** A breakpoint inside a result marks the end of the result, which is the nearest place. */
function insideOf(block: object): CacheControl | undefined {
  if (!('content' in block) || !Array.isArray(block.content)) return undefined
  const inner: readonly unknown[] = block.content
  return inner.map(controlOf).findLast((control) => control !== undefined)
}

/** A block or tool without its breakpoint, and without those inside it. */
export function withoutMark(item: object): object {
  const members = Object.entries(item).filter(([name]) => name !== 'cache_control')
  const bare: { [name: string]: unknown } = Object.fromEntries(members)
  const { content } = bare
  if (Array.isArray(content))
    bare['content'] = content.map((one: unknown) => (isObject(one) ? withoutMark(one) : one))
  return bare
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isTtl(value: unknown): value is '5m' | '1h' {
  return value === '5m' || value === '1h'
}
