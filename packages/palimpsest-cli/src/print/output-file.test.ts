import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { createCommandBench } from '../../../../test/kit/command-bench.ts'
import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { checkOutputFile, writeOutputFile } from './output-file.ts'

describe('a file that a flag names', () => {
  test('is written whole, and for the user only', async () => {
    const path = join(await tempFolder(), 'x')
    await writeOutputFile('--flag', path, 'a long text')
    await checkOutputFile('--flag', path)
    expect(await readFile(path, 'utf8')).toBe('a long text')
    await writeOutputFile('--flag', path, 'short')
    expect(await readFile(path, 'utf8')).toBe('short')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  test.each([
    ['target', 'it is a symbolic link, and writing would overwrite the file that it leads to'],
    ['gone', 'it is a symbolic link, and writing would overwrite the file that it leads to'],
  ])('is not written through a link to %s', async (target, reason) => {
    const folder = await tempFolder()
    await writeFile(join(folder, 'target'), 'kept')
    const path = join(folder, 'link')
    await symlink(target, path)
    for (const write of [checkOutputFile, writeOutputFile])
      await expect(write('--flag', path, 'new')).rejects.toThrow(
        `--flag ${path}: ${reason}. Name another file`,
      )
    expect(await readFile(join(folder, 'target'), 'utf8')).toBe('kept')
    await expect(stat(join(folder, 'gone'))).rejects.toThrow('ENOENT')
  })

  test('that cannot be written is refused with the reason', async () => {
    const folder = await tempFolder()
    await mkdir(join(folder, 'sub'))
    await expect(writeOutputFile('--flag', join(folder, 'sub'), '')).rejects.toThrow(
      'it is a folder. Name another file',
    )
    await expect(writeOutputFile('--flag', join(folder, 'no', 'x'), '')).rejects.toThrow(
      'its folder does not exist',
    )
    await writeOutputFile('--flag', '/dev/null', 'nothing')
  })
})

test.each([
  ['--bundle', ['doctor']],
  ['--html', ['replay', 'one.jsonl']],
  ['--views', ['replay', 'one.jsonl', '--strategy', 'batch']],
])('%s does not overwrite what a link leads to, and says so', async (flag, args) => {
  const bench = await createCommandBench()
  await writeFile(join(bench.folder, 'one.jsonl'), '')
  await writeFile(join(bench.folder, '..', 'precious'), 'kept')
  await symlink('../precious', join(bench.folder, 'out'))
  const { exit, err } = await bench.run([...args, flag, 'out'])
  expect(exit).toBe(2)
  expect(err).toContain(`${flag} ${join(bench.folder, 'out')}: it is a symbolic link`)
  expect(await readFile(join(bench.folder, '..', 'precious'), 'utf8')).toBe('kept')
})
