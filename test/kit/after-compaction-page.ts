import type { LoggedRequest } from '../../packages/palimpsest/src/lab/simulator/index.ts'
import type { MessagesRequest } from '../../packages/palimpsest/src/wire/request.ts'
import { isBlock, toBlocks, type Block } from '../../packages/palimpsest/src/wire/message.ts'
import { promptTokens } from '../../packages/palimpsest/src/wire/usage.ts'
import { WINDOWS, type Example, type Way, type WindowName } from './after-compaction.ts'

// An example as a page: the messages of the request as the model gets them. What only takes room (lines of files) is left out in the middle.

/** Lines of one text that are shown of its beginning and of its end, where the program did not write it. */
const LINES_SHOWN = { first: 5, last: 2 } as const

const WHAT: { readonly [way in Way]: string } = {
  auto: 'the window was full; a model wrote the summary',
  manual: 'the user asked for it (`palimpsest compact`); a model wrote the summary',
  from: 'the user had all from a message on compacted (`--from`)',
  'up-to': 'the user had all up to a message compacted (`--up-to`)',
  notes: 'the window was full; the notes of the session are the summary',
  server: 'the user asked for it, and the provider wrote the summary, in a block of its own',
  fold: 'the user asked for it, and no model could summarise',
}

export function messagesIn({ body }: LoggedRequest): MessagesRequest['messages'] {
  const request: MessagesRequest = JSON.parse(typeof body === 'string' ? body : JSON.stringify(body))
  return request.messages
}

export function pageOf(way: Way, windowName: WindowName, { bench, request, boundary }: Example): string {
  const usage = request.usage ? promptTokens(request.usage) : 0
  const head = [
    `# After a compaction: ${way}, a window of ${WINDOWS[windowName].toLocaleString('en-US')}`,
    `In this example ${WHAT[way]}. Before: about ${roundly(boundary.meta.preTokens)} tokens; after: ${roundly(usage)}. Written by \`test/after-compaction.heavy.test.ts\`; the messages are those of the first request after the compaction.`,
  ]
  const messages = messagesIn(request).map(
    ({ role, content }, i) => `## ${i + 1}. ${role}\n\n${toBlocks(content).map(shown).join('\n\n')}`,
  )
  const page = [...head, ...messages].join('\n\n')
  return `${page.replaceAll(bench.folder, '/work/harbour').replaceAll(bench.home, '~/.palimpsest')}\n`
}

function shown(block: Block): string {
  if (isBlock(block, 'text')) return fenced(isMade(block.text) ? block.text : clipped(block.text))
  if (isBlock(block, 'tool_use')) return `calls \`${block.name}\`\n\n${fenced(JSON.stringify(block.input))}`
  if (isBlock(block, 'compaction')) return `(compaction)\n\n${fenced(block.content ?? '')}`
  if (!isBlock(block, 'tool_result')) return `(${block.type})`
  const text = toBlocks(block.content ?? '')
    .map((part) => (isBlock(part, 'text') ? part.text : `(${part.type})`))
    .join('\n')
  return `${block.is_error ? 'failed with' : 'got'}\n\n${fenced(clipped(text))}`
}

/** What the program wrote is shown whole, except pieces of files in it. */
function isMade(text: string): boolean {
  return /Nothing is lost|^\[Left out here/.test(text)
}

/** Of excerpts each keeps its head and its foot. */
function clipped(text: string): string {
  if (!EXCERPT.test(text)) return clippedLines(text)
  return text
    .split(/(?<=\n<\/excerpt>)\n/)
    .map((part) => {
      const head = part.indexOf('">\n') + 3
      const foot = part.lastIndexOf('\n</excerpt>')
      return foot < head
        ? part
        : `${part.slice(0, head)}${clippedLines(part.slice(head, foot))}${part.slice(foot)}`
    })
    .join('\n')
}

const EXCERPT = /\n<excerpt from="/

function clippedLines(text: string): string {
  const lines = text.split('\n')
  const { first, last } = LINES_SHOWN
  if (lines.length <= first + last + 1) return text
  const gone = lines.length - first - last
  return [
    ...lines.slice(0, first),
    `      ⋮ (${gone} lines are not on this page)`,
    ...lines.slice(-last),
  ].join('\n')
}

function fenced(text: string): string {
  return `\`\`\`\`text\n${text}\n\`\`\`\``
}

function roundly(tokens: number): string {
  return (Math.round(tokens / 500) * 500).toLocaleString('en-US')
}
