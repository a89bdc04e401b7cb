import type { LoopTool, Permit } from 'palimpsest/loop'
import type { JsonObject } from 'palimpsest/wire'

// The agent names the memory folder, and its calls act on the copy: it never sees that there are two.

interface Folders {
  /** The folder it knows. The logs in it are not memories, and are read in place. */
  readonly from: string
  readonly to: string
}

export function redirectPermit(permit: Permit, folders: Folders): Permit {
  return async (tool, input, context) => {
    const meant = redirected(input, folders)
    const verdict = await permit(tool, meant, context)
    if (verdict.allow) return { ...verdict, input: verdict.input ?? meant }
    const place = `You may read, run what only reads, and write memories in ${folders.from}.`
    return { ...verdict, reason: `${tool.name} is not permitted here. ${place}` }
  }
}

/** A line of a transcript may be the whole result of a tool. */
const TRANSCRIPT_LINES_MAX = 20

/** Transcripts are searched, not read: a page of one would fill the window. */
export function searchTranscripts(permit: Permit, transcripts: string): Permit {
  return async (tool, input, context) => {
    const { file_path: path, limit } = input
    const isWhole =
      tool.name === 'Read' &&
      typeof path === 'string' &&
      path.startsWith(`${transcripts}/`) &&
      path.endsWith('.jsonl') &&
      !(typeof limit === 'number' && limit <= TRANSCRIPT_LINES_MAX)
    if (!isWhole) return await permit(tool, input, context)
    const reason = `A transcript is not read whole. Search it with Grep and a narrow pattern, or read at most ${TRANSCRIPT_LINES_MAX} lines of it with offset and limit.`
    return { allow: false, reason }
  }
}

export function redirectTool(tool: LoopTool, { from, to }: Folders): LoopTool {
  return {
    ...tool,
    run: async (input, context) => {
      const output = await tool.run(input, context)
      const { content } = output
      return typeof content === 'string' ? { ...output, content: content.replaceAll(to, from) } : output
    },
  }
}

/** Inputs that hold paths: a file, a folder, a pattern, a command. What is written into a file stays as it is. */
const PLACES = ['file_path', 'path', 'pattern', 'command']

function redirected(input: JsonObject, folders: Folders): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      typeof value === 'string' && PLACES.includes(key) ? redirectText(value, folders) : value,
    ]),
  )
}

/** The path continues: to a different folder, or to the logs. */
const GOES_ON = /^(?:[\w.-]|\/logs(?![\w.-]))/

function redirectText(text: string, { from, to }: Folders): string {
  const [first = '', ...rest] = text.split(from)
  return rest.reduce((made, part) => `${made}${GOES_ON.test(part) ? from : to}${part}`, first)
}
