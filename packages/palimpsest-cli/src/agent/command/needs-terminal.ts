// Programs that fill a screen and wait for keys. The model's commands have neither: such programs would hang, or end with a puzzling error.

interface ScreenProgram {
  readonly needsTerminal: (args: readonly string[]) => boolean
  readonly instead: string
}

const QUIET = new Set([
  '-e',
  '-E',
  '-s',
  '-es',
  '-Es',
  '--headless',
  '--batch',
  '-batch',
  '-b',
  '-bn1',
  '--version',
])
const EDITOR: ScreenProgram = {
  needsTerminal: (args) => !args.some((arg) => QUIET.has(arg)),
  instead: 'Use Edit or Write',
}
const WATCHER: ScreenProgram = { ...EDITOR, instead: 'Use ps, or top -b -n 1' }
const ASKING = new Set(['-i', '--interactive', '-p', '--patch'])

const PROGRAMS: { readonly [program: string]: ScreenProgram } = {
  vi: EDITOR,
  vim: EDITOR,
  nvim: EDITOR,
  nano: EDITOR,
  pico: EDITOR,
  emacs: EDITOR,
  top: WATCHER,
  htop: WATCHER,
  btop: WATCHER,
  git: {
    needsTerminal: ([verb = '', ...args]) =>
      ['rebase', 'add'].includes(verb) && args.some((arg) => ASKING.has(arg)),
    instead: 'Use git rebase --onto or git commit --fixup, and git add FILE',
  },
}

/** Why the line cannot run without a terminal. Undefined: nothing indicates that. */
export function findScreenProgram(line: string): string | undefined {
  for (const command of line.split(/[;&|()\n]/)) {
    const [name = '', ...args] = command.trim().split(/\s+/)
    const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined
    if (program?.needsTerminal(args) !== true) continue
    return `${[name, ...args].join(' ')} needs a terminal and somebody at its keys, and there is none. ${program.instead} instead`
  }
  return undefined
}
