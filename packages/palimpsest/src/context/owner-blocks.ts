import { hashText } from '../wire/hash.ts'

// Blocks as the API accepts them. An owner's block may have something that it refuses although the meaning is plain: a result without
// content, an id with characters that no id has. It is sent with the same meaning, and with the same bytes every time.

const NO_OUTPUT = '(no output)'
/** All characters that the API accepts in the id of a call. */
const ID = /^[\w-]+$/
const OTHER_SIGNS = /[^\w-]+/g
/** Length of the hash that keeps ids apart if they differ only in other characters. */
const ID_HASH_CHARS = 8

/** Returns the same object if there is nothing to fix. */
export function mended(block: object): object {
  if (!('type' in block)) return block
  if (block.type === 'tool_use' && 'id' in block) {
    const id = mendedId(block.id)
    return id === block.id ? block : { ...block, id }
  }
  return block.type === 'tool_result' && 'tool_use_id' in block
    ? mendedResult(block, block.tool_use_id)
    : block
}

function mendedResult(block: object, given: unknown): object {
  const id = mendedId(given)
  const had = 'content' in block ? block.content : undefined
  const content = mendedContent(had)
  return id === given && content === had ? block : { ...block, tool_use_id: id, content }
}

function mendedContent(content: unknown): unknown {
  if (content === undefined || content === null || content === '') return NO_OUTPUT
  if (!Array.isArray(content)) return content
  const said = content.filter((one: unknown) => !isBlank(one))
  if (said.length === 0) return NO_OUTPUT
  return said.length === content.length ? content : said
}

/** A text that the API refuses. */
export function isBlank(block: unknown): boolean {
  if (typeof block !== 'object' || block === null || !('type' in block) || block.type !== 'text') return false
  return !('text' in block) || (typeof block.text === 'string' && block.text.trim() === '')
}

function mendedId(id: unknown): unknown {
  if (typeof id !== 'string' || ID.test(id)) return id
  return `${id.replaceAll(OTHER_SIGNS, '_')}_${hashText(id).slice(0, ID_HASH_CHARS)}`
}
