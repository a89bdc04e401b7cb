import { hashText } from '../wire/hash.ts'

// Blocks as the API takes them. An owner's may have what it refuses though what they say is plain: a result without content, an id with signs
// that no id has. They are sent with the same meaning; whoever sends them again gets the same bytes.

const NO_OUTPUT = '(no output)'
/** All that the API takes in the id of a call. */
const ID = /^[\w-]+$/
const OTHER_SIGNS = /[^\w-]+/g
/** Ids that differ in other signs alone stay apart. */
const ID_HASH_CHARS = 8

/** The same object where there is nothing to mend. */
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
