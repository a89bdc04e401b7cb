import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { findChromium, launchChromium } from '../kit/chromium.ts'
import { claudeCodeSession } from '../kit/claude-code-session.ts'
import { COMMAND } from '../kit/headless.ts'

// The page of `replay --html`, written by the command, opened from disk in a real browser that has no network.

const chromium = findChromium()
const where = chromium === undefined ? ' (skipped: the machine has no chromium)' : ''
const folder = mkdtempSync(join(tmpdir(), 'replay-page-'))
const page = join(folder, 'page.html')

/** The path of a session is its name in the report, and whoever wrote it chose it. */
const ATTACK = `x"'><img src=x onerror="document.title='broken'"></script><script>document.title='broken'<!--&lt;\u202E.jsonl`

const IN_PAGE = readFileSync(join(import.meta.dirname, 'in-page.js'), 'utf8')

interface Seen {
  readonly width: number
  readonly texts: number
  readonly faint: readonly string[]
  readonly tiny: readonly string[]
}

/** A replay and the start of a browser, on a busy machine. */
const START_MS_MAX = 180_000

let browser: Browser

beforeAll(async () => {
  if (chromium === undefined) return
  const attack = join(folder, 'sessions', ATTACK)
  mkdirSync(dirname(attack), { recursive: true })
  writeFileSync(attack, claudeCodeSession(30))
  writeFileSync(join(folder, 'sessions/plain.jsonl'), claudeCodeSession(14))
  const [program, ...args] = COMMAND
  const asked = ['replay', 'sessions', '--strategy', 'mask-3,tail-20,pi,classic', '--ablation']
  const to = ['--window', '20000,40000', '--html', page]
  const ran = spawnSync(program, [...args, ...asked, ...to], { cwd: folder, encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(ran.stderr)
  browser = await launchChromium(chromium)
}, START_MS_MAX)

afterAll(async () => {
  if (chromium !== undefined) await browser.close()
  rmSync(folder, { recursive: true, force: true })
})

describe.skipIf(chromium === undefined)(`the page of the replay in a browser${where}`, () => {
  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'is readable in %s at a width of %d pixels, without requests or errors',
    async (scheme, width) => {
      const { shown, heard } = await open(scheme, width)
      const seen = await shown.evaluate<Seen>(IN_PAGE)
      expect(seen).toMatchObject({ width, faint: [], tiny: [] })
      expect(seen.texts).toBeGreaterThan(100)
      expect(await shown.locator('section').count()).toBe(2)
      expect(await shown.locator('section').first().locator('figure.panel').count()).toBe(6)
      expect(heard).toEqual([pathToFileURL(page).href])
      await shown.context().close()
    },
  )

  test('the charts show edits and compactions, and the table shows what was expensive', async () => {
    const { shown } = await open('light', 1280)
    const panel = shown.locator('section').first().locator('figure.panel', { hasText: 'mask-3' })
    expect(await panel.locator('path.edits').getAttribute('d')).toMatch(/^M\d+ 100v-12/)
    const own = shown.locator('section').first().locator('figure.panel.wide')
    expect(await own.textContent()).toContain('palimpsest')
    expect(await own.locator('path.cuts').count()).toBe(1)
    expect(await shown.locator('h3', { hasText: 'What each part contributes' }).count()).toBe(2)
    expect(await shown.locator('td.why').first().textContent()).toMatch(/tokens|call for a summary/)
    await shown.context().close()
  })

  test('a hostile session name is shown as plain text, character by character', async () => {
    const { shown } = await open('light', 1280)
    expect(await shown.title()).toBe('Replay: what each strategy costs and keeps')
    expect(await shown.locator('script, img').count()).toBe(0)
    const text = await shown.locator('main').innerText()
    expect(text).toContain(ATTACK.replace('\u202E', String.raw`\u202e`))
    expect(readFileSync(page, 'utf8')).not.toMatch(/<script|<img|\u202E/i)
    await shown.context().close()
  })
})

async function open(
  colorScheme: 'light' | 'dark',
  width: number,
): Promise<{ readonly shown: Page; readonly heard: readonly string[] }> {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, offline: true })
  const shown = await context.newPage()
  const heard: string[] = []
  shown.on('request', (request) => heard.push(request.url()))
  shown.on('console', (message) => heard.push(message.text()))
  shown.on('pageerror', (error) => heard.push(error.message))
  await shown.goto(pathToFileURL(page).href)
  return { shown, heard }
}
