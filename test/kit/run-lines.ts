import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

/** Far more than lines of stubs take, on a machine that does much else. */
const ALL_LINES_MS_MAX = 170_000

export interface LinesGround {
  /** Where the programs are that the lines may start. */
  readonly path: string
  /** To which stubs add a line each when they are called. */
  readonly log: string
}

export interface PlacedLine {
  readonly line: string
  readonly cwd: string
  readonly home: string
}

/**
 * Each line in a bash of its own, to its end and that of all it leaves running, without input. One small bash starts them all: a start from Node takes
 * several times as long as the line. Gives what the stubs wrote down for each.
 */
export async function runLines(
  lines: readonly PlacedLine[],
  { path, log }: LinesGround,
): Promise<readonly (readonly string[])[]> {
  writeFileSync(log, '')
  await startEach(lines.map(({ line, cwd, home }) => `${cwd}\0${home}\0${line}\0`).join(''), { path, log })
  const said = readFileSync(log, 'utf8').split('\0')
  rmSync(log)
  if (said.length !== lines.length + 1)
    throw new Error(`it ended with the line ${JSON.stringify(lines[said.length - 1]?.line)}`)
  return said.slice(0, -1).map((text) => text.split('\n').filter(Boolean))
}

/** What a line prints goes nowhere; but as long as somebody is there who could print, the line has not ended. */
const START_EACH = `
while IFS= read -r -d '' cwd && IFS= read -r -d '' home && IFS= read -r -d '' line; do
  : "$(cd "$cwd" && unset OLDPWD SHLVL && HOME=$home exec /bin/bash -c "$line" < /dev/null 2>&1)"
  printf '\\0' >> "$1"
done`

async function startEach(input: string, { path, log }: LinesGround): Promise<void> {
  const child = spawn('/bin/bash', ['-c', START_EACH, 'bash', log], {
    cwd: '/',
    env: { PATH: path, HOME: '/' },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), ALL_LINES_MS_MAX)
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.stdin.on('error', () => undefined).end(input)
  await ended
  clearTimeout(timer)
}
