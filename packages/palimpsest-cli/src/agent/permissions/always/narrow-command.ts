import { WRAPPING_PROGRAMS } from '../wrapping-programs.ts'
import type { PlainCommand } from './plain-line.ts'

// Which commands "always" may offer: exactly the same command again. It offers none for programs that run whatever they are given: a
// file that may have changed since, a line from somewhere else, another program.

/** Nobody takes in a longer command at a glance, so "always" does not offer it. */
const TEXT_CHARS_MAX = 200

/** They run programs in their own language, from an argument, a file or their input. */
const INTERPRETERS = words(`
  sh bash rbash dash ash zsh ksh mksh pdksh fish csh tcsh elvish nu xonsh pwsh powershell cmd busybox toybox
  node nodejs deno bun tsx ts-node esno swc-node babel-node zx qjs d8 electron
  python pypy ipython jython micropython bpython perl raku ruby irb jruby mruby php hhvm lua luajit tclsh wish expect
  rscript r julia octave matlab maxima gnuplot java jshell jbang groovy kotlin kotlinc scala scala-cli clojure clj bb lein erl escript
  elixir iex mix ghci runghc runhaskell ocaml guile racket scheme chicken csi sbcl clisp ecl swift dart osascript crystal nim vlang
  awk gawk mawk nawk goawk sed gsed ed ex vi vim nvim vimdiff view emacs emacsclient nano pico m4 bc dc
  sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli clickhouse duckdb gdb lldb bpftrace dtrace stap tclkit source`)

/** After these, the line continues in another folder, or later. */
const MOVES = words('cd pushd popd trap')

/** They fetch or find a program by name and run it. */
const RUNNERS = words(`npx bunx pnpx uvx pipx tox nox volta fnm nvm asdf rtx`)

const NEVER = new Set([...INTERPRETERS, ...WRAPPING_PROGRAMS, ...MOVES, ...RUNNERS])

const LANGUAGE_TOOLS = words(
  'uv poetry pipenv pdm hatch rye pixi conda mamba micromamba go cargo dotnet flatpak snap nix',
)
const VERSION_TOOLS = words('bundle rbenv pyenv nodenv mise opam stack cabal rustup devbox devenv')
const CONTAINER_TOOLS = words(
  'docker podman nerdctl docker-compose podman-compose kubectl oc lxc incus vagrant minikube colima gcloud az',
)

/** Words that turn an otherwise harmless program into one of the above. They count anywhere among its own arguments, but not after `--`. */
const RUNNING_WORDS = new Map<string, readonly string[]>([
  ...LANGUAGE_TOOLS.map((program) => [program, words('run exec script shell develop eval repl')] as const),
  ...VERSION_TOOLS.map((program) => [program, words('exec x run shell')] as const),
  ...CONTAINER_TOOLS.map((program) => [program, words('run exec debug ssh attach')] as const),
  ['find', words('-exec -execdir -ok -okdir')],
  ['fd', words('-x -X --exec --exec-batch')],
  ['git', words('-c -x --exec --exec-path --config-env bisect filter-branch foreach difftool mergetool')],
  ['npm', words('exec x explore init create innit')],
  ['pnpm', words('exec dlx x create')],
  ['yarn', words('exec dlx node create')],
  ['corepack', words('npx pnpx npm yarn pnpm')],
  ['tar', words('--to-command --use-compress-program -I --checkpoint-action --rsh-command')],
  ['rsync', words('-e --rsh --rsync-path')],
])

/** Why "always" must not offer this exact command. Undefined: it may. */
export function whyNotNarrow({ name, args, text, isFed, isFixed }: PlainCommand): string | undefined {
  if (name.includes('/')) return `${name} is a program by its path, and whatever is there would run`
  if (NEVER.has(plainName(name))) return `${name} runs whatever it is given`
  const own = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)
  const running = own.find((arg) => isRunningWord(plainName(name), arg))
  if (running !== undefined) return `${name} ${running} runs whatever it is given`
  if (!isFixed) return 'a variable or a pattern in it may be anything the next time'
  if (isFed) return `what ${name} reads from its input may be anything`
  if (text.length > TEXT_CHARS_MAX) return 'the command is too long to be taken in at a glance'
  return undefined
}

/** `--exec=x` and `-Ix` count too. */
function isRunningWord(program: string, arg: string): boolean {
  const known = RUNNING_WORDS.get(program) ?? []
  return known.some(
    (word) =>
      arg === word ||
      (word.startsWith('--') && arg.startsWith(`${word}=`)) ||
      (/^-[a-zA-Z]$/.test(word) && arg.startsWith(word)),
  )
}

/** `python3.12` and `Python.exe` are python. Digits are cut only until a known name is left: `pm2-18` is pm2, not pm. */
function plainName(name: string): string {
  const lower = name.toLowerCase().replace(/\.(?:exe|cmd|bat)$/, '')
  let end = lower.length
  while (end > 0 && !isKnown(lower.slice(0, end)) && '0123456789.-_'.includes(lower.charAt(end - 1))) end--
  return lower.slice(0, end)
}

function isKnown(name: string): boolean {
  return NEVER.has(name) || RUNNING_WORDS.has(name)
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
