import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

// `npm test`: the checks beside the tests, since the tests alone do not keep all cores busy. The tests are seen as they run. What the
// checks say is shown when the tests have ended, so that a check that fails stands last.

/** Compiler and linter end soon and hold a gigabyte: clearing up after themselves takes half of their time. */
const CHECKS_ENV = { GOGC: 'off', GOMEMLIMIT: '3GiB' }
/** Each worker of the tests loads the same sources: the first ones compile them for those that come later. */
const TESTS_ENV = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/palimpsest-compiled', import.meta.url)),
}

interface Ended {
  readonly code: number | null
  readonly said: string
}

const checks = run('check', { args: [], output: 'pipe', env: CHECKS_ENV })
const tests = run('test:only', { args: process.argv.slice(2), output: 'inherit', env: TESTS_ENV })
const [tested, checked] = [await tests, await checks]

print('npm run check')
process.stdout.write(checked.said)
if (tested.code !== 0) print('the tests FAILED: see above')
print(checked.code === 0 ? 'npm run check passed' : 'npm run check FAILED: see above')
process.exitCode = tested.code === 0 && checked.code === 0 ? 0 : 1

interface Run {
  readonly args: readonly string[]
  readonly output: 'pipe' | 'inherit'
  readonly env: NodeJS.ProcessEnv
}

function run(script: string, { args, output, env }: Run): Promise<Ended> {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...env },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })
}

function print(line: string): void {
  process.stdout.write(`\n── ${line} ──\n`)
}
