import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cases } from '../../../../../test/kit/cases.ts'
import { childFile } from '../../../../../test/kit/child.ts'
import { generateTranscript } from '../../../../../test/kit/generate-transcript.ts'
import { fileOptions, tempProject } from '../../../../../test/kit/temp-home.ts'
import { createTranscript } from './transcript-file.ts'

const CHILD = childFile('loader')
const run = promisify(execFile)

/** Of the process that opens the file. Times are measured in `bench/`. */
const PEAK_MB_MAX = 400
const MEGABYTES = cases(12, 300).numRuns

async function measure(...args: readonly string[]): Promise<Record<string, number>> {
  const { stdout } = await run(process.execPath, [CHILD, ...args])
  return JSON.parse(stdout)
}

describe(`a session of ${MEGABYTES} MB`, () => {
  it('is loaded from its end, listed, and read completely, each with little memory', async () => {
    const project = await tempProject()
    const file = await createTranscript(fileOptions(project))
    const { entries, messages, boundaries } = await generateTranscript(file, { bytes: MEGABYTES * 1_000_000 })
    await file.close()
    expect((await stat(file.path)).size).toBeGreaterThanOrEqual(MEGABYTES * 1_000_000)
    expect(boundaries).toBeGreaterThan(10)

    const loaded = await measure('load', file.path)
    expect(loaded).toMatchObject({ warnings: 0 })
    expect(loaded['entries']).toBeLessThan(1000)
    expect(loaded['nodes']).toBeGreaterThan(1)
    expect(loaded['peakMb']).toBeLessThan(PEAK_MB_MAX)

    const listed = await measure('list', file.path, project.home)
    expect(listed).toMatchObject({ sessions: [{ id: 's-1', messages, title: 'A generated session' }] })
    expect(listed['peakMb']).toBeLessThan(PEAK_MB_MAX)

    const read = await measure('read', file.path)
    expect(read).toMatchObject({ entries, warnings: 0 })
    expect(read['peakMb']).toBeLessThan(PEAK_MB_MAX)
  })
})
