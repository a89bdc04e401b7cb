import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { explainFlag } from 'palimpsest'
import { serve } from 'palimpsest/node'
import { describe, expect, onTestFinished, test, vi } from 'vitest'

import { tempFolder } from '../../../../test/kit/temp-home.ts'
import { openFlags, type OpenedFlags, type OpenFlagsOptions } from './open-flags.ts'

const features = (values: { readonly [flag: string]: unknown }): object => ({
  features: Object.fromEntries(
    Object.entries(values).map(([flag, defaultValue]) => [flag, { defaultValue }]),
  ),
})

interface Ground {
  readonly env?: { readonly [name: string]: string }
  readonly settings?: OpenFlagsOptions['settings']
  readonly file?: object
  readonly service?: object
}

async function open({ env = {}, settings = {}, file, service }: Ground) {
  const home = await tempFolder()
  if (file) await writeFile(join(home, 'flags.json'), JSON.stringify(file))
  const requests: string[] = []
  const served = await serve(async ({ url }) => {
    requests.push(url)
    return Response.json(service ?? {})
  })
  onTestFinished(async () => await served.close())
  const reports: string[] = []
  const opened = await openFlags(
    {
      home,
      settings: { ...(service ? { flagsUrl: served.url } : {}), ...settings },
      attributes: { id: 'session-1', version: '1.0.0', platform: 'linux' },
      report: (problem) => void reports.push(problem),
      trace: () => undefined,
    },
    { env, now: () => 1_800_000_000_000 },
  )
  onTestFinished(() => opened.close())
  opened.start()
  if (service && env['PALIMPSEST_FLAGS_URL'] === undefined)
    await vi.waitFor(() => expect(opened.remote?.fetchedAt()).toBeDefined(), { timeout: 30_000 })
  const from = (flag: string) => explainFlag(flag, opened.sources)
  return { opened, reports, requests, from, home, url: served.url, host: new URL(served.url).host }
}

describe('who decides', () => {
  test('environment, then settings, then the file, then the service, then the built-in value', async () => {
    const all = { 'auto-compact': true, 'session-memory': false, 'micro-batch': false, 'micro-cold': false }
    const { from, host, opened } = await open({
      env: { DISABLE_AUTO_COMPACT: '1' },
      settings: { autoCompactEnabled: true, sessionMemory: 'computed' },
      file: features({ 'auto-compact': true, 'session-memory': false, 'micro-batch': true }),
      service: features(all),
    })
    expect(from('auto-compact')).toEqual({ value: false, from: 'environment' })
    expect(from('session-memory')).toEqual({ value: true, from: 'settings' })
    expect(from('micro-batch')).toEqual({ value: true, from: 'flags.json' })
    expect(from('micro-cold')).toEqual({ value: false, from: host })
    expect(from('dreaming')).toEqual({ value: true })
    expect(opened.flags.value('auto-compact')).toBe(false)
    expect(opened.flags.value('micro-cold')).toBe(false)
  })

  test.each([
    [{ DISABLE_COMPACT: 'yes' }, false],
    [{ DISABLE_AUTO_COMPACT: 'on' }, false],
    [{ DISABLE_COMPACT: '0' }, true],
    [{ DISABLE_COMPACT: 'perhaps' }, true],
    [{}, true],
  ])('%j makes auto-compact %j, whatever the file says', async (env, value) => {
    const { from } = await open({ env, file: features({ 'auto-compact': true }) })
    expect(from('auto-compact')?.value).toBe(value)
  })

  test.each([
    ['1', true, 0],
    ['0', false, 0],
    ['', false, 0],
    ['perhaps', false, 1],
  ])('PALIMPSEST_COLLAPSE=%j overrides the flag: %j', async (word, value, warnings) => {
    const { from, reports } = await open({
      env: { PALIMPSEST_COLLAPSE: word },
      file: features({ collapse: !value }),
    })
    expect(from('collapse')).toEqual({ value, from: 'environment' })
    expect(reports).toHaveLength(warnings)
  })

  test.each([
    ['off', false, false],
    ['computed', true, false],
    ['eager', true, true],
  ] as const)('the setting sessionMemory: %s', async (sessionMemory, notes, eager) => {
    const file = features({ 'session-memory': !notes, 'session-memory-eager': !eager })
    const { from } = await open({ settings: { sessionMemory }, file })
    expect([from('session-memory')?.value, from('session-memory-eager')?.value]).toEqual([notes, eager])
  })
})

describe('the address of the service', () => {
  test('the variable comes before the setting; if it is empty, no service is asked', async () => {
    const other = await serve(async () => Response.json(features({ 'micro-cold': false })))
    onTestFinished(async () => await other.close())
    const byVariable = await open({
      env: { PALIMPSEST_FLAGS_URL: other.url },
      service: features({ 'micro-batch': false }),
    })
    await vi.waitFor(() => expect(byVariable.from('micro-cold')?.value).toBe(false), { timeout: 30_000 })
    expect(byVariable.requests).toEqual([])
    const nobody = await open({ env: { PALIMPSEST_FLAGS_URL: '' }, service: features({}) })
    expect(nobody.opened.remote).toBeUndefined()
  })

  test.each(['ftp://x', 'flags', 'http://user:secret@host/'])(
    'that is not valid is ignored, and reported without its content: %s',
    async (url) => {
      const { reports, opened } = await open({ env: { PALIMPSEST_FLAGS_URL: url } })
      expect(opened.remote).toBeUndefined()
      expect(reports).toEqual([
        'PALIMPSEST_FLAGS_URL must be an http or https address without a user name and password. It is ignored',
      ])
    },
  )
})

test('a problem is reported once, however often it comes', async () => {
  const { opened, reports, home } = await open({})
  const path = join(home, 'flags.json')
  for (let i = 0; i < 5; i++) {
    await writeFile(path, '{')
    readOne(opened)
    await writeFile(path, '{ ')
    readOne(opened)
  }
  expect(reports).toEqual([`${path}:1: this is not valid JSON: the text ends too early. It is ignored`])
})

test('says whether values depend on the session', async () => {
  const rules = [{ condition: { model: 'x' }, force: false }]
  const with_ = await open({ file: { features: { 'micro-batch': { defaultValue: true, rules } } } })
  const without = await open({ file: features({ 'micro-batch': false }) })
  expect([with_.opened.hasRules(), without.opened.hasRules()]).toEqual([true, false])
})

function readOne({ flags }: OpenedFlags): boolean {
  return flags.value('micro-batch')
}
