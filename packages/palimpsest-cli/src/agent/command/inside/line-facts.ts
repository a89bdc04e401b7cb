import { forEachChild, parse, type Redirect, type SyntaxNode } from 'unbash'

import { readingProblem, toArgument, toWord } from '../parse-shell.ts'
import type { ShellWord } from '../shell-word.ts'

// What a line contains, to decide whether it is worth running in the sandbox. A wrong answer only costs a round, since nothing the line
// does in there lasts. So loops, functions, arithmetic and substitutions are all fine.

export interface LineCommand {
  readonly name: string
  readonly args: readonly ShellWord[]
}

export type LineFacts =
  | { readonly readable: false; readonly why: string }
  | {
      readonly readable: true
      readonly commands: readonly LineCommand[]
      readonly redirects: readonly {
        readonly operator: Redirect['operator']
        readonly target: ShellWord | undefined
      }[]
      readonly functions: ReadonlySet<string>
      /** Variables that it reads and does not set itself. */
      readonly variables: ReadonlySet<string>
      readonly hasBackground: boolean
    }

class Computed extends Error {}

export function lineFacts(source: string): LineFacts {
  const problem = readingProblem(source)
  if (problem !== undefined) return { readable: false, why: problem }
  try {
    return collect(source)
  } catch (error) {
    const why = error instanceof Computed ? error.message : 'it cannot be parsed'
    return { readable: false, why }
  }
}

/** Commands whose words become variables. */
const SETTING = new Set('read mapfile readarray local declare typeset export readonly getopts'.split(' '))

function collect(source: string): LineFacts {
  const commands: LineCommand[] = []
  const redirects: { operator: Redirect['operator']; target: ShellWord | undefined }[] = []
  const functions = new Set<string>()
  const read = new Set<string>()
  const set = new Set<string>()
  let hasBackground = false
  const visit = (node: SyntaxNode): void => {
    switch (node.type) {
      case 'Script':
        if (node.errors !== undefined && node.errors.length > 0) throw new Computed('it is not valid bash')
        break
      case 'HereDoc':
        if (node.closing === undefined) throw new Computed('a here-document in it does not end')
        break
      case 'Command': {
        const name = node.name && toWord(node.name)
        if (name && name.kind !== 'literal') throw new Computed('a command name in it is computed')
        const args = node.args.map(toArgument)
        if (name) commands.push({ name: name.value, args })
        if (SETTING.has(name?.value ?? ''))
          for (const { value } of args) set.add(/^\w*/.exec(value)?.[0] ?? '')
        break
      }
      case 'Redirect':
        redirects.push({ operator: node.operator, target: node.target && toWord(node.target) })
        break
      case 'Statement':
        if (node.background === true) hasBackground = true
        break
      case 'Function':
        functions.add(node.name.value)
        break
      case 'Coproc':
        throw new Computed('it starts something beside itself')
      case 'Assignment':
        set.add(node.name)
        break
      case 'For':
      case 'Select':
        set.add(node.name.value)
        break
      case 'SimpleExpansion':
        read.add(node.text.slice(1))
        break
      case 'ParameterExpansion':
        read.add(node.parameter)
        break
      default:
        break
    }
    forEachChild(node, visit)
  }
  visit(parse(source))
  const variables = new Set([...read].filter((name) => /^[A-Za-z_]\w*$/.test(name) && !set.has(name)))
  return { readable: true, commands, redirects, functions, variables, hasBackground }
}
