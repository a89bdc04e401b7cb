import type { ShellText } from '../command/parse-shell.ts'
import { findProgram } from '../sandbox/find-program.ts'
import type { ShellState } from '../shell/shell-state.ts'

// Rules name programs, and so does the proof that a command may run unasked. If an earlier command gave a name another meaning, by a
// function or by a search path, neither counts: the user is asked, and the question says why.

export interface FirstShell {
  readonly state: ShellState
  /** The shell's environment now. */
  readonly env: { readonly [name: string]: string }
  /** `PATH` before any command changed it. */
  readonly firstPath: string
}

export async function changedMeaning(
  text: ShellText,
  { state, env, firstPath }: FirstShell,
): Promise<string | undefined> {
  const path = env['PATH'] ?? ''
  if (state.functionNames.size === 0 && path === firstPath) return undefined
  if (!text.readable)
    return 'an earlier command changed what names mean in the shell, and this one cannot be read'
  const called = text.commands.find(({ name }) => name !== undefined && state.functionNames.has(name))
  if (called?.name !== undefined) return `${called.name} is a function that an earlier command defined`
  if (path === firstPath) return undefined
  // All words count, not only names: `env`, `xargs` and the like run what they are given.
  const words = text.commands.flatMap(({ name = '', args }) => [name, ...args.map(({ value }) => value)])
  for (const word of new Set(words)) {
    const [first, now] = await Promise.all([findProgram(word, firstPath), findProgram(word, path)])
    if (first !== undefined && now?.real !== first.real)
      return `${word} is another program since an earlier command changed PATH`
  }
  return undefined
}
