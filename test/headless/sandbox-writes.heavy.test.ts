import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { call, createBench, put, text } from '../kit/headless.ts'
import { sandboxWorks } from '../kit/sandbox-works.ts'

// The command as it is installed, with the sandbox that writes: what tests inside of their own process cannot see is its bundle.

const hasSandbox = await sandboxWorks()

test.runIf(hasSandbox)(
  'if nobody can be asked, a command that writes runs unasked in the sandbox; one that the sandbox does not confine is refused with the flag that allows it',
  async () => {
    const bench = await createBench({
      script: [
        {
          content: [call('Bash', { command: 'mkdir -p out && echo made > out/a.txt && echo evil > .envrc' })],
        },
        { content: [call('Bash', { command: 'git commit -m x' })] },
        { content: [text('done')] },
      ],
    })
    await put(join(bench.home, 'settings.json'), '{"sandbox":true}')
    const { exit, out } = await bench.start(['-p', 'hello', '--output-format', 'stream-json']).ended
    expect({ exit, made: readFileSync(join(bench.folder, 'out/a.txt'), 'utf8') }).toEqual({
      exit: 0,
      made: 'made\n',
    })
    expect(existsSync(join(bench.folder, '.envrc'))).toBe(false)
    expect(out).toContain('.envrc is now ')
    expect(out).toContain('does not let repositories change')
    expect(out).toMatch(/--allowed-?[tT]ools/)
    expect(readdirSync(bench.folder)).toEqual(['out'])
  },
)

test('if the sandbox does not work, the start says so once with the fix, and commands that write are asked about', async () => {
  const bench = await createBench({
    script: [{ content: [call('Bash', { command: 'echo made > a.txt' })] }, { content: [text('done')] }],
  })
  await put(
    join(bench.home, 'settings.json'),
    `{"sandbox":true,"permissions":{"additionalDirectories":[${JSON.stringify(bench.userHome)}]}}`,
  )
  const { err } = await bench.run(['-p', 'hello'])
  expect(
    err.match(
      /Palimpsest asks before commands that write, although "sandbox" is set: [^\n]+To change that, /g,
    ),
  ).toHaveLength(1)
  expect(existsSync(join(bench.folder, 'a.txt'))).toBe(false)
})
