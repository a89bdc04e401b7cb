import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { describe, expect, it } from 'vitest'

import { cases } from '../../../../../test/kit/cases.ts'
import { childFile } from '../../../../../test/kit/child.ts'
import { tempProject } from '../../../../../test/kit/temp-home.ts'
import { applyPatch } from '../../layers/5-memory/file-patch.ts'
import type { FilePatch } from '../../memory-files.ts'
import { createMemoryFolder } from './memory-folder.ts'

const CHILD = childFile('rememberer')
/** Of each writer, before it is killed. */
const LINES_A_LIFE = 5
/** Of all lives together, at least. */
const LINES = cases(20, 1000).numRuns

interface Place {
  readonly home: string
  readonly path: string
}

/** One writer after the other, each killed in the middle of something. What it told. */
async function liveAndDie({ home, path }: Place, mark: string, lives: number): Promise<readonly string[]> {
  const told: string[] = []
  for (let life = 0; life < lives; life++) {
    const args = [CHILD, home, path, `${mark}${life}`]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    let count = 0
    for await (const line of createInterface({ input: child.stdout })) {
      told.push(line)
      if (++count === LINES_A_LIFE) setTimeout(() => child.kill('SIGKILL'), life % 7)
    }
    await exit
  }
  return told
}

describe('two agents that write the same memory and are killed', () => {
  it('(M1) lose nothing, leave complete files, and keep history and files consistent', async () => {
    const { home, folder: projectFolder } = await tempProject()
    const path = join(projectFolder, 'memory')
    const lives = LINES / (2 * LINES_A_LIFE)
    const told = await Promise.all([
      liveAndDie({ home, path }, 'a', lives),
      liveAndDie({ home, path }, 'b', lives),
    ])
    const folder = createMemoryFolder({ home, path, now: () => 0 })
    const { texts, index, unusable } = await folder.read()
    const lines = (texts.get('shared') ?? '').trimEnd().split('\n')
    expect(told.flat().length).toBeGreaterThanOrEqual(LINES)
    expect(told.flat().filter((line) => !lines.includes(line))).toEqual([])
    expect(lines).toHaveLength(new Set(lines).size)
    expect({ index, unusable: unusable.size }).toEqual({
      index: '- [shared](shared.md): lines\n',
      unusable: 0,
    })

    const history = (await folder.history()).toReversed()
    expect(history.map(({ reason }) => reason)).toEqual(lines.map((line) => `wrote ${line}`))
    expect(
      folded(
        history.flatMap(({ changed }) => changed),
        'shared',
      ),
    ).toBe(texts.get('shared'))
    expect(
      folded(
        history.flatMap(({ changed }) => changed),
        'MEMORY',
      ),
    ).toBe(index)
    expect((await readdir(path)).filter((name) => !name.startsWith('.'))).toEqual(['MEMORY.md', 'shared.md'])
  })
})

/** The file as its history says it is. */
function folded(patches: readonly FilePatch[], file: string): string | null | undefined {
  const own = patches.filter((patch) => patch.file === file)
  return own.reduce<string | null | undefined>(
    (text, patch) => (text === undefined ? undefined : applyPatch(patch, text)),
    null,
  )
}
