import { execFile, spawn } from 'node:child_process'
import { appendFile, readdir, readFile, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import { childFile } from '../../../../../test/kit/child.ts'
import { fileOptions, say, tempProject } from '../../../../../test/kit/temp-home.ts'
import type { ProjectFolder } from '../files/paths.ts'
import { readTranscript } from './read-transcript.ts'
import { createTranscript, openTranscript } from './transcript-file.ts'

const CHILD = childFile('writer')
const run = promisify(execFile)

/** A limit on the size of files, in blocks of 512 or 1024 bytes: the last write is cut short in the middle of a line. */
const LIMITED = `trap '' XFSZ; ulimit -f 40; exec "$0" "$@"`

function childArgs(command: string, project: ProjectFolder): string[] {
  return [CHILD, command, project.home, project.project]
}

async function idsIn(path: string): Promise<string[]> {
  const ids: string[] = []
  for await (const item of readTranscript(path)) {
    if (item.kind === 'warning') throw new Error(item.warning.text)
    if (item.kind === 'entry') ids.push(item.entry.id)
  }
  return ids
}

describe('a killed writer', () => {
  it('(T1) every entry that was reported as written is in the file, and the session continues', async () => {
    for (let round = 0; round < cases(2, 200).numRuns; round++) {
      const project = await tempProject()
      const child = spawn(process.execPath, childArgs('append', project), {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let told = -1
      const exit = new Promise((resolve) => child.once('exit', resolve))
      for await (const line of createInterface({ input: child.stdout })) {
        told = Number(line.split(' ')[1])
        if (told >= 20 + round * 7) child.kill('SIGKILL')
      }
      await exit
      expect(told).toBeGreaterThanOrEqual(20)
      const { file, loaded } = await openTranscript(fileOptions(project))
      await file.append([say('after', null)])
      await file.close()
      expect(loaded.warnings.filter((warning) => warning.kind !== 'torn-line')).toEqual([])
      const ids = await idsIn(file.path)
      expect(ids.at(-1)).toBe('after')
      const written = ids.slice(0, -1)
      expect(written.length).toBeGreaterThanOrEqual((told + 1) * 2)
      expect(written).toEqual(written.map((_, i) => `n${i / 2}`))
    }
  })
})

describe('a disk without space', () => {
  it.skipIf(process.platform === 'win32')(
    '(T1) a write cut short by the system leaves only complete lines',
    async () => {
      const project = await tempProject()
      const file = await createTranscript(fileOptions(project))
      await file.append([say('first', null)])
      await file.close()
      // A limit on the size of files, in blocks of 512 or 1024 bytes: the last write is cut short in the middle of a line.
      const script = `trap '' XFSZ; ulimit -f 40; exec "$0" "$@"`
      const { stdout } = await run('sh', ['-c', script, process.execPath, ...childArgs('fill', project)])
      const [loaded, failed] = stdout.trimEnd().split('\n')
      expect(loaded).toBe('loaded 1')
      expect(failed).toMatch(
        /^failed after [1-9]\d*: disk-full: .*Raise the limit or continue in a new session/,
      )
      const count = Number(failed?.split(' ')[2]?.replace(':', ''))
      expect(await idsIn(file.path)).toEqual(['first', ...Array.from({ length: count }, (_, i) => `n${i}`)])
      expect((await readFile(file.path)).at(-1)).toBe(10)
      expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
      expect((await stat(file.path)).size).toBeGreaterThan(3000)
    },
  )

  it.skipIf(process.platform === 'win32')('(T1) torn bytes that cannot be saved are kept', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    await file.append([say('first', null)])
    await file.close()
    await appendFile(file.path, `{"torn":"${'x'.repeat(100_000)}`)
    const before = await readFile(file.path)
    const limited = run('sh', ['-c', LIMITED, process.execPath, ...childArgs('fill', project)])
    await expect(limited).rejects.toThrow(/StorageError: cannot write .*torn-1/)
    expect((await readFile(file.path)).equals(before)).toBe(true)
    expect(await readdir(project.folder)).toEqual(['project.json', 's-1.jsonl'])
  })
})
