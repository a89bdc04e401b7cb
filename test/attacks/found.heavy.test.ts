import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { sandboxWorks } from '../kit/sandbox-works.ts'
import { createWorkbench } from '../kit/workbench.ts'
import { fill } from './attack-lines.ts'
import { EVIL_REPOSITORIES } from './repositories/evil-repositories.ts'
import { makeScript } from './repositories/evil-repository.ts'
import { createStage, type Stage } from './stage.ts'

// Lines by which commands that nobody was asked about once ran, wrote or read what they must not, in both worlds.

const FOUND: readonly (readonly [what: string, lines: readonly string[]])[] = [
  [
    'sed runs what a bracket hides',
    [
      "echo ': /;{run}' | sed 's/[/]/p;s/e#/x/'",
      "echo '{run}' | sed 's/[/]/;s/x/e'",
      "sed 's/[/]/x/;1e {run}' a.txt",
      "sed -n '/[/]/w {target}' a.txt",
    ],
  ],
  [
    'printf sets PATH',
    ["printf '%n' PATH; ls", "printf '%s%n' '' PATH && cat a.txt", "printf -- '%n' PATH; ls"],
  ],
  [
    'awk, jq, strings and wc read any file',
    [
      'awk \'BEGIN { ARGV[1] = "{secret}"; ARGC = 2 } { print }\'',
      'awk \'BEGIN { while ((getline line < "{secret}") > 0) print line }\'',
      'awk \'BEGIN { while ((getline line < "{environ}") > 0) print line }\'',
      'jq -n \'import "data" as $s {search: "{outside}"}; $s\'',
      "jq -n --rawfile s {secret} '$s'",
      'jq -nr --slurpfile s {secret} .',
      'strings @list',
      'strings -a @list',
      'echo {secret} | tr "\\n" "\\0" | wc --files0-from=-',
      'wc --files0-from=names0',
      'cat {environ}',
      'strings {environ}',
    ],
  ],
  [
    'a link and the way up from it read a key',
    ['cat {past}', 'head -5 {past}', 'grep SECRET {past}', 'cat < {past}', 'ls l/..'],
  ],
]

/** In the order in which they were found. */
const FOUND_REPOSITORIES =
  /comment that goes on|common folder|beside an empty|HEAD that is a link|ending in "( \\n|\\n\\n)"|index is refreshed|^a filter$|text converter|checks signatures|fetched by a program/

const fillOutside = (line: string, stage: Stage): string =>
  fill(line, stage.words).replaceAll('{outside}', stage.bench.outside)

const WORLDS = (await sandboxWorks()) ? (['off', 'auto'] as const) : (['off'] as const)

describe.each(WORLDS)('with the sandbox %s', (policy) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await createStage(policy)
  })
  afterAll(() => stage.dispose())

  test.each(FOUND)('%s: no longer', async (_, lines) => {
    const escapes: string[] = []
    for (const line of lines) {
      const filled = fillOutside(line, stage)
      const result = await stage.attack(filled)
      escapes.push(...result.escapes.map((escape) => `${escape} by ${line}`))
    }
    expect(escapes).toEqual([])
  })

  test("git runs what a repository's configuration says, and edits can make a repository: no longer", async () => {
    const escapes: string[] = []
    for (const { name, build } of EVIL_REPOSITORIES.filter((one) => FOUND_REPOSITORIES.test(one.name))) {
      const bench = await createWorkbench({ sandbox: policy })
      const mark = join(bench.root, 'mark')
      build(bench.work, makeScript(bench.work, mark))
      mkdirSync(join(bench.work, 'sub'), { recursive: true })
      rmSync(mark, { force: true })
      for (const command of ['git status', 'git diff HEAD']) {
        bench.access.moveShell(bench.work)
        await bench.call('Bash', { command, timeout: 10_000 })
        if (existsSync(mark)) escapes.push(`${name}, by ${command}`)
        rmSync(mark, { force: true })
      }
      await bench.dispose()
    }
    const editing = await createWorkbench({ sandbox: policy, mode: 'accept-edits' })
    for (const file_path of ['inner/HEAD', 'inner/.git', 'HEAD', 'commondir'])
      if ((await editing.permit('Write', { file_path, content: 'x' })).allow)
        escapes.push(`${file_path} is written`)
    await editing.dispose()
    expect(escapes).toEqual([])
  })
})
