import type { JsonObject } from '../../../wire/json.ts'
import type { TouchedFile } from './found-facts.ts'

// Files that a patch or a shell command changes, judged by the plainest forms.

type Change = Pick<TouchedFile, 'path' | 'operation'>

const PATCH_FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/gm
const PATCH_OPERATIONS: { readonly [verb: string]: TouchedFile['operation'] } = {
  Add: 'created',
  Update: 'edited',
  Delete: 'deleted',
}

export function patchedFiles(input: JsonObject): readonly Change[] {
  return Object.values(input)
    .filter((value) => typeof value === 'string')
    .flatMap((text) => [...text.matchAll(PATCH_FILE)])
    .flatMap(([, verb = '', path = '']) => {
      const operation = PATCH_OPERATIONS[verb]
      return operation ? [{ path: path.trim(), operation }] : []
    })
}

const PATH = '["\']?((?![\\d-])[\\w./~@+-]*\\w\\.\\w+)["\']?'
const SHELL_CHANGES: readonly (readonly [TouchedFile['operation'], RegExp])[] = [
  ['deleted', new RegExp(`(?:^|[;&|]\\s*|git )rm\\s+(?:-\\w+\\s+)*${PATH}`, 'gm')],
  ['moved', new RegExp(`(?:^|[;&|]\\s*|git )mv\\s+(?:-\\w+\\s+)*\\S+\\s+${PATH}`, 'gm')],
  ['written', new RegExp(`(?:^|[;&|]\\s*)cp\\s+(?:-\\w+\\s+)*\\S+\\s+${PATH}`, 'gm')],
  ['edited', new RegExp(`\\bsed\\s+-i\\S*\\s+(?:'[^']*'|"[^"]*")\\s+${PATH}`, 'g')],
  ['written', new RegExp(`(?:^|[^-=<>0-9&])>>?\\s*${PATH}`, 'g')],
  ['written', new RegExp(`\\btee\\s+(?:-a\\s+)?${PATH}`, 'g')],
]

/** A here-document's body is data. */
export function shellFiles(command: string): readonly Change[] {
  const head = command.includes('<<') ? (command.split('\n')[0] ?? '') : command
  return SHELL_CHANGES.flatMap(([operation, pattern]) =>
    [...head.matchAll(pattern)].flatMap(([, path]) =>
      path === undefined || path.startsWith('/dev/') ? [] : [{ path, operation }],
    ),
  )
}
