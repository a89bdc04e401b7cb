import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { TraceEvent } from 'palimpsest'
import { describe, expect, test } from 'vitest'

import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { createFileSource } from './file-source.ts'
import { PAYLOAD_BYTES_MAX } from './read-payload.ts'

const features = (values: { readonly [flag: string]: unknown }): string =>
  JSON.stringify({
    features: Object.fromEntries(
      Object.entries(values).map(([flag, defaultValue]) => [flag, { defaultValue }]),
    ),
  })

async function openFile(text?: string) {
  const path = join(await tempFolder(), 'flags.json')
  if (text !== undefined) await writeFile(path, text)
  const reports: string[] = []
  const traces: TraceEvent[] = []
  const source = createFileSource(path, {
    attributes: { id: 'session-1', version: '1.0.0', platform: 'linux' },
    report: (problem) => void reports.push(problem),
    trace: (event) => void traces.push(event),
  })
  return { path, reports, traces, source }
}

describe('the file of flags', () => {
  test('says nothing where there is none', async () => {
    const { source, reports } = await openFile()
    expect(source.find('micro-batch')).toBeUndefined()
    expect(reports).toEqual([])
  })

  test('takes effect at the next reading when it appears, changes or disappears, however it is written', async () => {
    const { source, path, traces } = await openFile()
    await writeFile(path, features({ 'micro-batch': false }))
    expect(source.find('micro-batch')).toBe(false)
    await writeFile(path, features({ 'micro-batch': true }))
    expect(source.find('micro-batch')).toBe(true)
    await writeFile(`${path}.new`, features({ 'micro-batch': false }))
    await rename(`${path}.new`, path)
    expect(source.find('micro-batch')).toBe(false)
    await rm(path)
    expect(source.find('micro-batch')).toBeUndefined()
    expect(traces.map(({ flag, value, from }) => [flag, value, from])).toEqual([
      ['micro-batch', false, 'flags.json'],
      ['micro-batch', true, 'flags.json'],
      ['micro-batch', false, 'flags.json'],
      ['micro-batch', undefined, 'flags.json'],
    ])
  })

  test('a change that keeps the length and the timestamp is noticed', async () => {
    const { source, path } = await openFile(features({ 'result-chars-max': 10_000 }))
    const time = new Date(1_700_000_000_000)
    await utimes(path, time, time)
    expect(source.find('result-chars-max')).toBe(10_000)
    await writeFile(path, features({ 'result-chars-max': 20_000 }))
    await utimes(path, time, time)
    expect(source.find('result-chars-max')).toBe(20_000)
  })

  test('torn, it changes nothing and is reported; whole again, it counts', async () => {
    const { source, path, reports } = await openFile(features({ 'micro-batch': false }))
    const whole = features({ 'micro-batch': true, 'micro-cold': false })
    for (let length = 0; length < whole.length; length++) {
      await writeFile(path, whole.slice(0, length))
      expect([source.find('micro-batch'), source.find('micro-cold')]).toEqual([false, undefined])
    }
    expect(reports).toHaveLength(whole.length)
    expect(reports[0]).toBe(`${path}:1: this is not valid JSON: the text ends too early. It is ignored`)
    await writeFile(path, whole)
    expect([source.find('micro-batch'), source.find('micro-cold')]).toEqual([true, false])
  })

  test('a wrong type and an unknown name are reported; the rest of the file counts', async () => {
    const { source, path, reports } = await openFile(
      features({ 'micro-batch': 'off', 'micro-bath': false, 'micro-cold': false }),
    )
    expect([source.find('micro-batch'), source.find('micro-cold')]).toEqual([undefined, false])
    expect(reports).toEqual([
      `${path}: "micro-batch" must be true or false. It is ignored`,
      `${path}: unknown flags: "micro-bath". docs/flags.md lists all flags`,
    ])
  })

  test('of many unknown names only a few are reported', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x${i}`, true]))
    const { path, reports } = await openFile(features(many))
    expect(reports).toEqual([
      `${path}: unknown flags: "x0", "x1", "x2", "x3", "x4" and 35 more. docs/flags.md lists all flags`,
    ])
  })

  test('too large, a folder, a pipe, a loop of links, unreadable: reported, nothing changes, nobody waits', async () => {
    const { source, path, reports } = await openFile(features({ 'micro-batch': false }))
    const expectReport = (words: string): void => {
      expect(source.find('micro-batch')).toBe(false)
      expect(reports).toEqual([`${path}: ${words}. It is ignored`])
      reports.length = 0
    }
    await writeFile(path, ' '.repeat(PAYLOAD_BYTES_MAX + 1))
    expectReport('it is larger than 1048576 bytes')
    await rm(path)
    await mkdir(path)
    expectReport('this is not a regular file')
    await rm(path, { recursive: true })
    execFileSync('mkfifo', [path])
    expectReport('this is not a regular file')
    await rm(path)
    await symlink(path, path)
    expectReport('it cannot be read (ELOOP)')
  })

  test.skipIf(process.getuid?.() === 0)(
    'without permission to read it: reported, nothing changes',
    async () => {
      const { source, path, reports } = await openFile(features({ 'micro-batch': false }))
      await chmod(path, 0)
      expect(source.find('micro-batch')).toBe(false)
      expect(reports).toEqual([`${path}: it cannot be read (EACCES). It is ignored`])
    },
  )

  test('is read when it changed, not at every reading', async () => {
    const { source, reports } = await openFile('{')
    for (let i = 0; i < 100; i++) source.find('micro-batch')
    expect(reports).toHaveLength(1)
  })

  test('with rules: counts once it is settled, and at the next reading after rules have been seen', async () => {
    const withRule = (platform: string): string =>
      JSON.stringify({
        features: {
          'micro-batch': { defaultValue: true, rules: [{ condition: { platform }, force: false }] },
        },
      })
    const { source, path } = await openFile(withRule('linux'))
    await source.settled()
    expect(source.find('micro-batch')).toBe(false)
    await writeFile(path, withRule('darwin'))
    expect(source.find('micro-batch')).toBe(true)
  })
})
