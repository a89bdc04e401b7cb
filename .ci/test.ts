import { spawn } from 'node:child_process'

// `npm test`: the checks beside the tests, since the tests alone do not keep all cores busy. The tests are seen as they run. What the
// checks say is shown when the tests have ended, so that a check that fails stands last.

/** Compiler and linter end soon and hold a gigabyte: to clear up behind themselves takes half of their time. */
const CHECKS_ENV = { GOGC: 'off', GOMEMLIMIT: '3GiB' }

interface Ended {
  readonly code: number | null
  readonly said: string
}

const checks = run('check', [], 'pipe')
const tests = run('test:only', process.argv.slice(2), 'inherit')
const [tested, checked] = [await tests, await checks]

print('npm run check')
process.stdout.write(checked.said)
if (tested.code !== 0) print('the tests FAILED: see above')
print(checked.code === 0 ? 'npm run check passed' : 'npm run check FAILED: see above')
process.exitCode = tested.code === 0 && checked.code === 0 ? 0 : 1

function run(script: string, args: readonly string[], output: 'pipe' | 'inherit'): Promise<Ended> {
  const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...CHECKS_ENV },
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
