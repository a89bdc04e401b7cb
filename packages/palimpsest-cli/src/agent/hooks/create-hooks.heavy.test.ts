import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { Json } from 'palimpsest/wire'
import { describe, expect, test, vi } from 'vitest'

import { timersLeftBy } from '../../../../../test/kit/process-state.ts'
import { tempFolder } from '../../../../../test/kit/temp-home.ts'
import { commandEnvironment } from '../process/child-environment.ts'
import { createHooks, type Hooks } from './create-hooks.ts'
import { OUTPUT_BYTES_MAX } from './run-hook.ts'

// Real scripts in a real shell.

const NEVER = new AbortController().signal
const PRE = {
  event: 'PreCompact',
  value: 'auto',
  input: { trigger: 'auto', custom_instructions: '' },
} as const

async function hooksWith(...commands: readonly Json[]): Promise<Hooks & { readonly folder: string }> {
  const folder = await tempFolder()
  const hooks = commands.map((hook) => (typeof hook === 'string' ? { type: 'command', command: hook } : hook))
  const made = createHooks({
    hooks: { PreCompact: [{ hooks }] },
    env: commandEnvironment({ PATH: process.env['PATH'] }, folder),
    cwd: folder,
    projectFolder: folder,
    sessionId: 's-1',
    transcriptPath: join(folder, 's-1.jsonl'),
    mode: () => 'accept-edits',
  })
  return { ...made, folder }
}

describe('a command hook', () => {
  test('gets the event on stdin, and the project and the session in its environment', async () => {
    const { run, folder } = await hooksWith(
      'cat > event.json; echo "$CLAUDE_PROJECT_DIR $CLAUDE_CODE_SESSION_ID"',
    )
    expect(await run(PRE, NEVER)).toEqual([{ text: `${folder} s-1` }])
    expect(JSON.parse(readFileSync(join(folder, 'event.json'), 'utf8'))).toEqual({
      session_id: 's-1',
      transcript_path: join(folder, 's-1.jsonl'),
      cwd: folder,
      permission_mode: 'acceptEdits',
      hook_event_name: 'PreCompact',
      trigger: 'auto',
      custom_instructions: '',
    })
  })

  test.each([
    ['exit 0', {}],
    ['echo more', { text: 'more' }],
    ['echo "not now" >&2; exit 2', { objection: 'not now' }],
    ['exit 2', { objection: 'the hook "exit" objects' }],
    [`echo '{"decision":"block","reason":"first commit"}'`, { objection: 'first commit' }],
    [`echo '{"decision":"block","reason":"x"}'; exit 1`, { objection: 'x' }],
    [
      `echo '{"hookSpecificOutput":{"additionalContext":"c"},"systemMessage":"s"}'`,
      { text: 'c', notice: 's' },
    ],
    ['echo "{ this is no JSON"', { text: '{ this is no JSON' }],
    ['echo broken >&2; exit 1', { notice: 'the hook "echo" failed with exit code 1: broken' }],
    ['no-such-program-anywhere', { notice: expect.stringMatching(/failed with exit code 127/) }],
    ['kill -9 $$', { notice: 'the hook "kill" did not run: it was ended by SIGKILL' }],
    [{ type: 'command', command: 'printf', args: ['%s', '$HOME; exit 2'] }, { text: '$HOME; exit 2' }],
    [
      { type: 'command', command: '/no/such/file', args: [] },
      { notice: expect.stringMatching(/did not run.*ENOENT/) },
    ],
  ])('%j means %j', async (hook, answer) => {
    const { run } = await hooksWith(hook)
    expect(await run(PRE, NEVER)).toEqual([answer])
  })

  test('that takes too long is ended, with everything it started', async () => {
    let pids: readonly number[] = []
    // On a busy machine a shell takes longer to begin.
    for (const timeout of [1, 8, 60]) {
      const { run, folder } = await hooksWith({
        type: 'command',
        command: 'sleep 99 & echo $! > pids; (trap "" TERM; sleep 99) & echo $! >> pids; sleep 99',
        timeout,
      })
      expect(await run(PRE, NEVER)).toEqual([{ notice: 'the hook "sleep" took too long and was stopped' }])
      const path = join(folder, 'pids')
      pids = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').map(Number) : []
      if (pids.length === 2) break
    }
    expect(pids).toHaveLength(2)
    for (const pid of pids)
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 30_000 })
  })

  test.each([
    ['has ended', 'echo more', 60],
    ['took too long', 'sleep 9', 0.1],
  ])('that %s leaves no stray timer', async (_, command, timeout) => {
    const { run } = await hooksWith({ type: 'command', command, timeout })
    expect(await timersLeftBy(async () => await run(PRE, NEVER))).toBe(0)
  })

  test('that prints endlessly is read only in part', async () => {
    const { run } = await hooksWith(`head -c ${3 * OUTPUT_BYTES_MAX} /dev/zero | tr '\\0' x`)
    const [answer] = await run(PRE, NEVER)
    expect(answer?.text).toHaveLength(OUTPUT_BYTES_MAX)
  })

  test('is ended when the user stops the run', async () => {
    const { run } = await hooksWith('sleep 9')
    const stop = new AbortController()
    const running = run(PRE, stop.signal)
    stop.abort()
    expect(await running).toEqual([{ notice: 'the hook "sleep" did not run: stopped' }])
  })
})

describe('hooks of one event', () => {
  test('run in parallel, the same command once, in the order of the settings', async () => {
    const meet =
      'touch $1; for i in $(seq 600); do [ -e $2 ] && break; sleep 0.05; done; [ -e $2 ] && echo met $1'
    const { run } = await hooksWith(`set -- a b; ${meet}`, `set -- b a; ${meet}`, `set -- a b; ${meet}`)
    expect(await run(PRE, NEVER)).toEqual([{ text: 'met a' }, { text: 'met b' }])
  })

  test('with "once" run at the first event only; those with "async" are not waited for, and end with the run', async () => {
    const { run, close, folder } = await hooksWith(
      { type: 'command', command: 'echo first', once: true },
      { type: 'command', command: 'until [ -e go ]; do sleep 0.02; done; touch done', async: true },
    )
    expect(await run(PRE, NEVER)).toEqual([{ text: 'first' }])
    expect(await run(PRE, NEVER)).toEqual([])
    expect(existsSync(join(folder, 'done'))).toBe(false)
    writeFileSync(join(folder, 'go'), '')
    await close()
    expect(existsSync(join(folder, 'done'))).toBe(true)
  })

  test('run only where their matcher matches', async () => {
    const settings = (matcher: Json) => [
      {
        matcher,
        hooks: [{ type: 'command', command: `echo "${typeof matcher === 'string' ? matcher : 7}"` }],
      },
    ]
    const folder = await tempFolder()
    const { run, notices } = createHooks({
      hooks: {
        PreCompact: ['auto', 'manual', 'manual|auto', '*', '', 'a.*', 'aut', '(', 7].flatMap(settings),
      },
      env: commandEnvironment({ PATH: process.env['PATH'] }, folder),
      cwd: folder,
      projectFolder: folder,
      sessionId: 's-1',
      transcriptPath: '',
      mode: () => 'default',
    })
    const texts = (await run(PRE, NEVER)).map(({ text }) => text)
    expect(texts).toEqual(['auto', 'manual|auto', '*', undefined, 'a.*'])
    expect(notices).toEqual([
      'hooks.PreCompact: the matcher "(" is not a valid pattern; the group is ignored',
      'hooks.PreCompact: "matcher" must be a string; the group is ignored',
    ])
  })

  test('of other kinds are reported once; what is not a hook is ignored', async () => {
    const { notices, run } = await hooksWith(
      { type: 'http', url: 'https://example.test' },
      { type: 'http', url: 'https://example.test/2' },
      { type: 'prompt', prompt: 'x' },
      { type: 'command' },
      7,
      'echo good',
    )
    expect(notices).toEqual([
      'hooks.PreCompact: hooks of type "http" are not supported; only "command" is run',
      'hooks.PreCompact: hooks of type "prompt" are not supported; only "command" is run',
      'hooks.PreCompact: a hook of type "command" needs a "command"; it is ignored',
      'hooks.PreCompact: a hook must have a "type"; it is ignored',
    ])
    expect(await run(PRE, NEVER)).toEqual([{ text: 'good' }])
  })
})
