import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { INPUT_BYTES_MAX, type Input } from '../../packages/palimpsest-cli/src/run/read-input.ts'
import { transcriptsOf } from '../kit/headless.ts'
import { tempFolder } from '../kit/temp-home.ts'

// Wrong usage: one line that says what and how to fix it, exit code 2, nothing on stdout, nothing stored, nobody asked.

async function run(
  args: readonly string[],
  input: Input = { kind: 'none' },
  env: { readonly [name: string]: string } = {},
): Promise<{ exit: number; out: string; err: string; stored: readonly string[] }> {
  const folder = await tempFolder()
  await mkdir(join(folder, 'work'))
  await writeFile(join(folder, 'work', 'broken.json'), '{"model": ')
  await writeFile(join(folder, 'work', 'notes.txt'), 'no session\n')
  let out = ''
  let err = ''
  const exit = await runCli(args, {
    version: '1.2.3',
    env: { PALIMPSEST_HOME: join(folder, 'home'), PALIMPSEST_MEMORY_EXTRACT: '0', ...env },
    cwd: join(folder, 'work'),
    userHome: folder,
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => input,
    print: (text) => (out += text),
    printError: (text) => (err += text),
    signal: new AbortController().signal,
  })
  return { exit, out, err, stored: await transcriptsOf({ home: join(folder, 'home') }) }
}

test.each([
  [['-p'], /^no prompt: give one after -p, or on stdin$/],
  [['-p', '  '], /^no prompt: /],
  [['-p', 'a', 'b'], /^unexpected argument "b": put several words in quotes; .* shows how$/],
  [['-p', 'a', '--colour'], /^unknown option '--colour'; .* shows how$/],
  [['-p', 'a', '-x'], /^unknown option '-x'/],
  [['-p', 'a', '--model'], /^option '-m, --model <value>' argument missing; /],
  [['-p', 'a', '--output-format', 'xml'], /^--output-format "xml": use one of text, json, stream-json$/],
  [
    ['-p', 'a', '--permission-mode', 'yolo'],
    /^--permission-mode "yolo": use one of default, accept-edits, plan, bypass$/,
  ],
  [['-p', 'a', '--allowed-tools', 'Bash('], /^--allowed-tools "Bash\(": /],
  [['-p', 'a', '--max-turns', '0'], /^--max-turns "0": give a whole number, 1 or more$/],
  [['-p', 'a', '--max-turns', 'many'], /^--max-turns "many": /],
  [['-p', 'a', '--max-cost=-1'], /^--max-cost "-1": give a number of dollars above 0$/],
  [['-p', 'a', '--max-cost', ''], /^--max-cost "": /],
  [['-p', 'a', '--window', 'wide'], /^--window "wide": /],
  [['-p', 'a', '--window', '0'], /^--window "0": /],
  [['-p', 'a', '--base-url', 'here'], /^--base-url "here" must be an http or https address/],
  [
    ['-p', 'a', '--base-url', 'file:///etc/passwd'],
    /^--base-url "file:\/\/\/etc\/passwd" must be an http or https address/,
  ],
  [['-p', 'a', '--base-url', 'http://me:pw@host'], /^--base-url .* must .* without a user name and password/],
  [['-p', 'a', '--cwd', 'nowhere'], /^--cwd .*nowhere: there is no such folder$/],
  [['-p', 'a', '--add-dir', '.', '--add-dir', 'nowhere'], /^--add-dir .*nowhere: there is no such folder$/],
  [['-p', 'a', '--allowedTools', 'Read', 'Bash('], /^unexpected argument "Bash\("/],
  [['-p', 'a', '--allowedTools', 'Read', 'Bash()'], /^--allowed-tools "Bash\(\)": /],
  [['-p', 'a', '--allowed-tools', 'Bash()', '--allowed-tools', 'Read'], /^--allowed-tools "Bash\(\)": /],
  [['-p', 'a', '--cwd', 'notes.txt'], /^--cwd .*notes.txt: there is no such folder$/],
  [
    ['-p', 'a', '--settings', 'none.json'],
    /^.*none\.json: cannot read the settings: there is no such file\. Check the path$/,
  ],
  [['-p', 'a', '--settings', 'broken.json'], /^.*broken\.json:1: this is not valid JSON: /],
  [['-p', 'a', '--continue'], /^no session in this folder yet; /],
  [['-p', 'a', '--resume', 'none'], /^no session "none"; `palimpsest sessions` lists all$/],
  [['-p', 'a', '--resume', '../../none'], /^there is no session file \/.*none; /],
  [['-p', 'a', '--resume', './notes.txt'], /^\/.*notes\.txt is not a session: /],
  [['-p', 'a', '--resume', '..'], /^"\.\." cannot be a session id: /],
  [['-p', 'a', '--resume', ''], /^--resume: which session\? `palimpsest sessions` lists the ids$/],
  [['-p', 'a', '--resume'], /^--resume: which session\? `palimpsest sessions` lists the ids$/],
  [
    ['-p', 'a', '--modle', 'x'],
    /^unknown option '--modle'\. Did you mean --model\? `palimpsest -p --help` shows how$/,
  ],
  [
    ['sesions'],
    /^there is no command "sesions"\. Did you mean `palimpsest sessions`\? To send the word itself to the agent: `palimpsest -p sesions`$/,
  ],
  [['doctr', '--json'], /^there is no command "doctr"\. Did you mean `palimpsest doctor`\? /],
  [['purge', 'short'], /^purge: give the text to remove, at least 6 characters/],
  [['run', '--', 'ls'], /not built yet\. `palimpsest --help` lists what is$/],
  [['-p', 'a', '--session-id', 'memory'], /^"memory" cannot be a session id: /],
  [['-p', 'a', '--session-id', 'a/b'], /^"a\/b" cannot be a session id: /],
  [['-p', 'a', '--session-id', ''], /^"" cannot be a session id: /],
  [
    ['-p', 'a', '--continue', '--resume', 'x'],
    /^--continue, --resume and --session-id cannot be combined: use one of them$/,
  ],
])('%j', async (args, line) => {
  const { exit, out, err, stored } = await run(args)
  expect(err).toMatch(/^palimpsest: [^\n]*\n$/)
  expect(err.slice('palimpsest: '.length, -1)).toMatch(line)
  expect({ exit, out, stored }).toEqual({ exit: 2, out: '', stored: [] })
})

test('more on stdin than a prompt can hold', async () => {
  const { exit, err } = await run(['-p', 'look'], { kind: 'too-long' })
  const megabytes = INPUT_BYTES_MAX / 1024 / 1024
  expect({ exit, err }).toEqual({
    exit: 2,
    err: `palimpsest: stdin holds more than ${megabytes} MB: write it to a file and name the file in the prompt\n`,
  })
})

test.each([['PALIMPSEST_BASE_URL'], ['ANTHROPIC_BASE_URL']])('%s that is not an address', async (name) => {
  const { exit, err } = await run(['-p', 'a'], { kind: 'none' }, { [name]: 'localhost:8080' })
  expect(err).toMatch(new RegExp(`^palimpsest: ${name} "localhost:8080" must be an http or https address`))
  expect(exit).toBe(2)
})
