import type { LoopTool } from 'palimpsest/loop'

import { changeFile, readKnown, type FileChanges } from '../files/change-file.ts'
import { replaceText, type ReplaceFailure } from '../files/replace-text.ts'
import { fromUnits, toBytes, toTextForm, toUnits, type TextForm } from '../files/text-form.ts'
import type { Access } from '../paths/access.ts'
import { grantedPath } from './granted-path.ts'
import { Refusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { optionalFlag, requiredText } from './tool-input.ts'

const DESCRIPTION = `Replaces an exact piece of text in a file.

- The file must have been read in this conversation and be unchanged since.
- old_string is the text as it stands in the file, indentation included, without the line numbers that Read puts before each line.
- old_string must occur exactly once: take in as many lines around it as that needs. With replace_all every occurrence is replaced.
- Line ends, byte order mark and mode of the file stay as they are.`

interface EditInput {
  readonly path: string
  readonly old: string
  readonly fresh: string
  readonly all: boolean
}

export function createEditTool(options: FileChanges & { readonly access: Access }): LoopTool {
  return defineTool<EditInput>({
    name: 'Edit',
    description: DESCRIPTION,
    properties: {
      file_path: { type: 'string', description: 'The file to change' },
      old_string: { type: 'string', description: 'The text to replace, exactly as in the file' },
      new_string: { type: 'string', description: 'The text to put in its place' },
      replace_all: { type: 'boolean', description: 'Replace every occurrence. Default: false' },
    },
    required: ['file_path', 'old_string', 'new_string'],
    parse: (input) => ({
      path: requiredText(input, 'file_path'),
      old: requiredText(input, 'old_string'),
      fresh: requiredText(input, 'new_string'),
      all: optionalFlag(input, 'replace_all'),
    }),
    isReadOnly: false,
    run: async (input, { toolUseId, view }) => {
      const path = await grantedPath(options.access, toolUseId, input.path)
      const old = await readKnown(path, view)
      if (old === undefined) throw new Refusal(`There is no file at ${path}. Make it with Write.`)
      const form = toTextForm(old.bytes)
      if (form === undefined) throw new Refusal(`${path} is a binary file and cannot be edited as text.`)
      const { bytes, count, lines } = editForm(form, input, path)
      if (options.memory?.covers(path))
        return await options.memory.write(path, Buffer.from(bytes).toString('utf8'), view)
      const file = await changeFile({ toolUseId, path, old, how: 'edited' }, bytes, options)
      const where = lines.length === 1 ? `at line ${lines[0]}` : `at lines ${lines.join(', ')}`
      const more = count > lines.length ? ` and ${count - lines.length} more` : ''
      const times = count === 1 ? '1 occurrence' : `${count} occurrences`
      return { content: `Replaced ${times} in ${path} ${where}${more}.`, files: [file] }
    },
  })
}

function editForm(
  form: TextForm,
  { old, fresh, all }: EditInput,
  path: string,
): { readonly bytes: Uint8Array; readonly count: number; readonly lines: readonly number[] } {
  if (old === '')
    throw new Refusal('old_string is empty. Give the text to replace, or use Write for a new file.')
  if (old === fresh) throw new Refusal('old_string and new_string are the same. Nothing was changed.')
  const units = (text: string): string => toUnits(text, form.encoding)
  const result = replaceText(form.units, units(old), units(fresh), all)
  if (!result.ok) throw new Refusal(failureText(result, fromUnits(form.units, form.encoding), old, path))
  return { bytes: toBytes({ ...form, units: result.text }), count: result.count, lines: result.lines }
}

function failureText(failure: ReplaceFailure, text: string, old: string, path: string): string {
  switch (failure.kind) {
    case 'not-unique': {
      const more = failure.count > failure.lines.length ? ', …' : ''
      return `old_string occurs ${failure.count} times in ${path}, at lines ${failure.lines.join(', ')}${more}. Nothing was changed. Take in more lines around the one you mean, or set replace_all.`
    }
    case 'not-found':
      return `old_string does not occur in ${path}. Nothing was changed. ${hint(text, old)}`
    default:
      failure satisfies never
      return ''
  }
}

/** Why the text may not be found although the model expected it. */
function hint(text: string, old: string): string {
  if (/^ *\d+\t/m.test(old))
    return 'It seems to hold the line numbers of Read: leave them and the tab after them out.'
  if (old.includes('\uFFFD'))
    return 'U+FFFD stands for bytes that are no UTF-8; they cannot be given as text.'
  const squeezed = (part: string): string => part.replaceAll(/\s+/g, ' ').trim()
  const first = old.split('\n').find((line) => line.trim() !== '')
  if (first === undefined) return 'Read the file again and copy the text exactly.'
  const line = text.split('\n').findIndex((candidate) => squeezed(candidate) === squeezed(first))
  if (line === -1) return 'Read the file again and copy the text exactly.'
  return `Line ${line + 1} is like its first line: compare white space and the lines after it, and copy the text exactly.`
}
