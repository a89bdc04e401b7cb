import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { runCli } from './run-cli.ts'

// A project's folder as it lies on disk: two sessions of ours, one of another agent, stored results, links that lead out of it.

const root = realpathSync(mkdtempSync(join(tmpdir(), 'palimpsest-recall-')))
const home = join(root, 'home')
const project = join(root, 'work')
const folder = join(home, 'projects', project.replaceAll(/[^A-Za-z0-9]/g, '-'))

mkdirSync(project)
mkdirSync(join(folder, 's-1/tool-results'), { recursive: true })
mkdirSync(join(folder, 's-1/agents'), { recursive: true })
mkdirSync(join(folder, 's-1/checkpoints'), { recursive: true })
mkdirSync(join(folder, 'memory'))
mkdirSync(join(home, 'memory'))
writeFileSync(join(folder, 'memory/birds.md'), 'The spoonbill comes in May.\n')
writeFileSync(join(home, 'memory/mine.md'), 'I like the avocet most.\n')
writeFileSync(join(folder, 'project.json'), JSON.stringify({ path: project }))
const message = (uuid: string, parentUuid: string | null, content: unknown, more: object = {}) => ({
  uuid,
  parentUuid,
  sessionId: 's-1',
  timestamp: '2026-01-01T00:00:01.000Z',
  type: 'user',
  message: { role: 'user', content },
  ...more,
})
put('s-1.jsonl', [
  message('u1', null, 'one\nThe port is 4711, never 4712.\nthree\nfour\nfive'),
  message(
    'a1',
    'u1',
    [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo "Zürich" && ls' } }],
    {
      type: 'assistant',
      timestamp: '2026-01-01T00:00:02.000Z',
      message: {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'a secret plan', signature: 'x' },
          { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'echo "Zürich" && ls' } },
        ],
      },
    },
  ),
  {
    type: 'system',
    subtype: 'compact_boundary',
    uuid: 'b1',
    parentUuid: null,
    logicalParentUuid: 'a1',
    sessionId: 's-1',
    timestamp: '2026-01-01T00:00:03.000Z',
    compactMetadata: { trigger: 'auto', preTokens: 9 },
  },
  message('u2', 'b1', 'A summary: the port is 4711, never 4712.', {
    isCompactSummary: true,
    timestamp: '2026-01-01T00:00:04.000Z',
  }),
  // A branch that was left: nothing on the chain leads here.
  message('fork', 'u1', 'abandoned branch with a kingfisher', { timestamp: '2026-01-01T00:00:05.000Z' }),
  { type: 'queue-operation', operation: 'enqueue', content: 'something typed: heron' },
])
appendFileSync(join(folder, 's-1.jsonl'), '{"type":"user","message":{"role":"user","content":"torn pelican')
put('s-1/agents/x.jsonl', [message('agent', null, 'the agent saw a cormorant')])
writeFileSync(
  join(folder, 's-1/tool-results/toolu_1.txt'),
  `${'filler line\n'.repeat(200_000)}the LAST egret \u001B[31mred\n`,
)
writeFileSync(join(folder, 's-1/checkpoints/c.txt'), 'a checkpoint with an osprey')
put('theirs.jsonl', [
  message('theirs', null, [{ type: 'text', text: 'Claude Code heard a bittern' }], {
    sessionId: 'theirs',
    version: '2.0.0',
    gitBranch: 'main',
  }),
])
mkdirSync(join(root, 'outside'))
writeFileSync(
  join(root, 'outside/secret.jsonl'),
  `${JSON.stringify(message('out', null, 'outside: flamingo'))}\n`,
)
symlinkSync(join(root, 'outside/secret.jsonl'), join(folder, 'linked.jsonl'))
symlinkSync(join(root, 'outside'), join(folder, 's-1/linked'))
mkdirSync(join(home, 'projects/-elsewhere'), { recursive: true })
writeFileSync(
  join(home, 'projects/-elsewhere/o.jsonl'),
  `${JSON.stringify(message('o', null, 'another project: flamingo'))}\n`,
)

afterAll(() => rmSync(root, { recursive: true, force: true }))

function put(name: string, lines: readonly object[]): void {
  writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

async function run(...args: string[]): Promise<{ exit: number; out: string; err: string }> {
  const texts = { out: '', err: '' }
  const exit = await runCli(['recall', ...args], {
    version: '0.0.0',
    env: { PALIMPSEST_HOME: home },
    cwd: project,
    userHome: '/nowhere',
    now: () => 0,
    nodeVersion: 'v24.0.0',
    platform: 'linux',
    readInput: async () => ({ kind: 'none' }),
    print: (text) => (texts.out += text),
    printError: (text) => (texts.err += text),
    signal: new AbortController().signal,
  })
  return { exit, ...texts }
}

async function hits(...args: string[]): Promise<readonly { [name: string]: unknown }[]> {
  return JSON.parse((await run(...args, '--json')).out)
}

describe('palimpsest recall', () => {
  test('quotes word for word, with id, session, time and the surrounding lines; the original comes before its summary', async () => {
    expect(await hits('port is 4711')).toEqual([
      {
        id: 'u1',
        session: 's-1',
        at: '2026-01-01T00:00:01.000Z',
        kind: 'user',
        quote: 'The port is 4711, never 4712.',
        before: 'one',
        after: 'three\nfour',
        score: 1,
      },
      expect.objectContaining({ id: 'u2', kind: 'summary', score: 0.95 }),
    ])
  })

  test.each([
    ['thinking', 'secret plan', 'a1', 'thinking'],
    ['tool calls', 'echo "Zürich" && ls', 'a1', 'tool_use'],
    ['words in another case', 'zÜRICH', 'a1', 'tool_use'],
    ['abandoned branches', 'kingfisher', 'fork', 'user'],
    ['lines of unknown kinds', 'heron', expect.stringMatching(/^line:/), 'other'],
    ['torn lines', 'pelican', expect.stringMatching(/^s-1\.jsonl:\d+$/), 'stored'],
    ['agents', 'cormorant', 'agent', 'user'],
    ['memories of the project', 'spoonbill', 'memory/birds.md', 'memory'],
    ['memories of the user', 'avocet', '../../memory/mine.md', 'memory'],
    ['stored results of any length', 'LAST egret', 's-1/tool-results/toolu_1.txt', 'stored'],
    ["other agents' sessions", 'bittern', 'theirs', 'user'],
    ['words in any order', 'port 4712 never', 'u1', 'user'],
  ])('finds %s', async (_what, query, id, kind) => {
    expect((await hits(query))[0]).toMatchObject({ id, kind })
  })

  test.each(['flamingo', 'osprey', 'nothing like it'])('reads nothing outside: %s', async (query) => {
    expect(await run(query, '--json')).toEqual({
      exit: 0,
      out: '[]\n',
      err: 'palimpsest: nothing found\n',
    })
  })

  test.each([
    ['a message', 'fork', 'fork', 's-1', 'abandoned branch with a kingfisher'],
    ['a message of a sub-agent', 'agent', 'agent', 's-1', 'the agent saw a cormorant'],
  ])('shows %s by its id, whole', async (_what, given, id, session, quote) => {
    const [out] = JSON.parse((await run('--id', given, '--json')).out)
    expect(out).toMatchObject({ id, session, quote, before: '', after: '', score: 1 })
  })

  test('keeps to a session that is named, by id or by file', async () => {
    expect(await hits('bittern', '--session', 's-1')).toEqual([])
    expect(await hits('cormorant', '--session', 's-1')).toHaveLength(1)
    expect(await hits('flamingo', '--session', join(root, 'outside/secret.jsonl'))).toMatchObject([
      { id: 'out', session: 'secret' },
    ])
    expect(await run('x', '--session', 'no-such')).toMatchObject({ exit: 2 })
  })

  test('prints nothing that a terminal obeys, and its JSON reads back as it was', async () => {
    const shown = await run('egret')
    expect(shown.out).toContain(String.raw`> the LAST egret \x1b[31mred`)
    const raw = await run('egret', '--json')
    expect(shown.out + raw.out).not.toContain('\u001B')
    expect(JSON.parse(raw.out)[0].quote).toBe('the LAST egret \u001B[31mred')
  })

  test('is wrong usage without words, or with an invalid limit', async () => {
    expect(await run()).toMatchObject({ exit: 2 })
    expect(await run('x', '--limit', '0')).toMatchObject({ exit: 2 })
    expect(await hits('filler', '--limit', '2')).toHaveLength(1)
  })
})
