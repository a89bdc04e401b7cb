import type { LoopTool } from 'palimpsest/loop'

import { changeFile, readKnown, type FileChanges } from '../files/change-file.ts'
import type { Access } from '../paths/access.ts'
import { PLAN_FILE_MODE } from '../plan/create-planning.ts'
import { grantedPath } from './granted-path.ts'
import { defineTool } from './define-tool.ts'
import { requiredText } from './tool-input.ts'

const DESCRIPTION = `Writes a file: makes it, or replaces its whole content.

- A file that exists must have been read in this conversation and be unchanged since.
- Missing folders are made.
- To change a part of a file use Edit: it is shorter and cannot lose the rest.
- Do not write documentation or notes that nobody asked for.`

interface WriteInput {
  readonly path: string
  readonly content: string
}

export function createWriteTool(options: FileChanges & { readonly access: Access }): LoopTool {
  return defineTool<WriteInput>({
    name: 'Write',
    description: DESCRIPTION,
    properties: {
      file_path: { type: 'string', description: 'The file to write' },
      content: { type: 'string', description: 'The whole new content' },
    },
    required: ['file_path', 'content'],
    parse: (input) => ({
      path: requiredText(input, 'file_path'),
      content: requiredText(input, 'content'),
    }),
    isReadOnly: false,
    run: async ({ path, content }, { toolUseId, view }) => {
      const real = await grantedPath(options.access, toolUseId, path)
      const old = await readKnown(real, view)
      if (options.memory?.covers(real)) return await options.memory.write(real, content, view)
      const mode = real === options.access.planFile?.path ? PLAN_FILE_MODE : undefined
      const change = { toolUseId, path: real, old, how: 'written', mode } as const
      const file = await changeFile(change, Buffer.from(content, 'utf8'), options)
      const did = old === undefined ? 'Made' : 'Replaced the content of'
      return { content: `${did} ${real} (${lineCount(content)}).`, files: [file] }
    },
  })
}

function lineCount(content: string): string {
  const lines = content === '' ? 0 : content.replace(/\n$/, '').split('\n').length
  return lines === 1 ? '1 line' : `${lines} lines`
}
