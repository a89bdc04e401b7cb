import { isUtf8 } from 'node:buffer'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

import type { LoopTool, ToolOutput } from 'palimpsest/loop'

import { EDITED_BYTES_MAX } from '../files/file-limits.ts'
import { hashBytes } from '../files/hash-bytes.ts'
import { isImage, toImageBlock } from '../files/image-form.ts'
import { openRegular, readRegular } from '../files/open-regular.ts'
import { findEncoding, fromUnits, toTextForm, type TextForm } from '../files/text-form.ts'
import type { Access } from '../paths/access.ts'
import { grantedPath } from './granted-path.ts'
import { Refusal } from '../refusal.ts'
import { systemCode } from '../files/system-code.ts'
import { defineTool } from './define-tool.ts'
import { readLargePage } from './large-page.ts'
import { PAGE_LINES_DEFAULT, pageOf, renderPage, type Page, type PageRequest } from './page.ts'
import { optionalInteger, requiredText } from './tool-input.ts'

const DESCRIPTION = `Reads a file and returns its text with line numbers, as \`cat -n\` does: number, tab, line.

- file_path may be absolute, relative to the working folder, or begin with ~/.
- Without offset and limit the first ${PAGE_LINES_DEFAULT} lines come back. A last line in brackets says if there is more and how to go on. Lines longer than 2000 characters are cut; ask for few lines to see more of each.
- Images (PNG, JPEG, GIF, WebP) come back as pictures. Other binary files and PDFs are refused.
- A folder cannot be read; use Glob.
- Stored results of earlier tool calls can be read by the path they were announced with.
- Read a file before you change it. Read several files at once by several calls in one answer.`

interface ReadInput extends PageRequest {
  readonly path: string
}

/** Enough of a file's start to recognize its kind. */
const SNIFFED_BYTES = 8192
const LINES_MAX = Number.MAX_SAFE_INTEGER

export function createReadTool(options: { readonly access: Access }): LoopTool {
  return defineTool<ReadInput>({
    name: 'Read',
    description: DESCRIPTION,
    properties: {
      file_path: { type: 'string', description: 'The file to read' },
      offset: { type: 'integer', minimum: 1, description: 'The first line to show, from 1' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to show' },
    },
    required: ['file_path'],
    parse: (input) => ({
      path: requiredText(input, 'file_path'),
      offset: Math.max(1, optionalInteger(input, 'offset', { min: 0, max: LINES_MAX }) ?? 1),
      limit: optionalInteger(input, 'limit', { min: 1, max: LINES_MAX }) ?? PAGE_LINES_DEFAULT,
    }),
    isReadOnly: true,
    resultCharsMax: 'unlimited',
    run: async (input, { toolUseId, signal }) => {
      const path = await grantedPath(options.access, toolUseId, input.path)
      return readFile(path, input, signal).catch(async (error: unknown) => {
        throw await withSuggestions(error, path)
      })
    },
  })
}

async function readFile(path: string, input: ReadInput, signal: AbortSignal): Promise<ToolOutput | string> {
  const { handle, stat } = await openRegular(path)
  let start: Buffer
  try {
    const sniffed = Buffer.alloc(SNIFFED_BYTES)
    const { bytesRead } = await handle.read(sniffed, 0, SNIFFED_BYTES, 0)
    start = sniffed.subarray(0, bytesRead)
    requireReadable(path, start)
    if (stat.size > EDITED_BYTES_MAX && findEncoding(start) === 'utf-8') {
      return toText(await readLargePage(handle, input, signal), input)
    }
  } finally {
    await handle.close()
  }
  const { bytes } = await readRegular(path, EDITED_BYTES_MAX)
  const image = toImageBlock(path, bytes)
  if (image !== undefined) return { content: [image] }
  const form = toTextForm(bytes)
  if (form === undefined) throw binary(path)
  const seen = { path, hash: hashBytes(bytes), how: 'read' } as const
  return { content: textOf(form, bytes, input), files: [seen] }
}

function textOf(form: TextForm, bytes: Buffer, input: ReadInput): string {
  if (form.units === '') return '(The file is there and is empty.)'
  const text = toText(pageOf(fromUnits(form.units, form.encoding), input), input)
  return form.encoding === 'utf-8' && !isUtf8(bytes)
    ? `${text}\n[The file holds bytes that are no UTF-8. They are shown as U+FFFD; an Edit leaves them as they are.]`
    : text
}

function toText(page: Page, request: PageRequest): string {
  if (page.shown.length > 0) return renderPage(page, request)
  throw new Refusal(`The file has ${page.totalLines ?? 0} lines; offset=${request.offset} is behind its end.`)
}

function requireReadable(path: string, start: Buffer): void {
  if (start.subarray(0, 5).toString('latin1') === '%PDF-')
    throw new Refusal(
      `${path} is a PDF, which cannot be shown. If pdftotext is installed, make a text of it with Bash.`,
    )
  if (!isImage(start) && findEncoding(start) === undefined) throw binary(path)
}

function binary(path: string): Refusal {
  return new Refusal(
    `${path} is a binary file and is not shown. Look at it with Bash: \`file\`, \`strings\` or \`od -c\`.`,
  )
}

const SUGGESTIONS_MAX = 3

/** For a missing file: suggests similar names in the same folder. */
async function withSuggestions(failure: unknown, path: string): Promise<unknown> {
  if (!(failure instanceof Refusal) || systemCode(failure.cause) !== 'ENOENT') return failure
  const names = await readdir(dirname(path)).catch(() => [])
  const stem = (name: string): string => basename(name, extname(name)).toLowerCase()
  const similar = names.filter((name) => stem(name) === stem(basename(path))).slice(0, SUGGESTIONS_MAX)
  if (similar.length === 0)
    return new Refusal(`There is no file at ${path}. Find it with Glob.`, { cause: failure })
  const paths = similar.map((name) => join(dirname(path), name)).join(', ')
  return new Refusal(`There is no file at ${path}. Did you mean ${paths}?`, { cause: failure })
}
