import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { runCli } from '../../packages/palimpsest-cli/src/commands/run-cli.ts'
import { findChromium, launchChromium } from '../../test/kit/chromium.ts'
import { hasBothSets, projectSessions } from '../../test/kit/recorded-projects.ts'
import { RECORDED_DATA } from '../../test/kit/recorded.ts'
import { drawTerminal } from './draw-terminal.ts'

// The pictures in README: the report of the projects for reporting, as a terminal and as a browser show it.
//   npm run pictures

const ROOT = join(import.meta.dirname, '../..')
const PICTURES = join(ROOT, 'docs/pictures')
const COLUMNS = 80
const { version: VERSION }: { version: string } = JSON.parse(
  readFileSync(join(ROOT, 'packages/palimpsest-cli/package.json'), 'utf8'),
)
const PAGE = { width: 1280, height: 1560 } as const
/** Of the terminal's report: from its beginning to what was dear. */
const SHOWN_UNTIL = /\n\S*[^\n]*\$ +× step why\n/

if (!hasBothSets) throw new Error('no recorded sessions of both sets at ../shared/data')
const chromium = findChromium()
const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
try {
  const page = join(folder, 'page.html')
  const text = await report(page)
  mkdirSync(PICTURES, { recursive: true })
  const end = SHOWN_UNTIL.exec(text)?.index ?? text.length
  writeFileSync(join(PICTURES, 'replay-terminal.svg'), drawTerminal(text.slice(0, end), COLUMNS))
  if (chromium === undefined) console.error('no chromium: the picture of the page stays as it is')
  else await photograph(page, chromium)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The terminal's text; the page is written beside. */
async function report(page: string): Promise<string> {
  const files = projectSessions()
    .filter(({ half }) => half === 'held-out')
    .map(({ session }) => join(RECORDED_DATA, session))
  let text = ''
  const code = await runCli(['replay', ...files, '--window', '100000', '--html', page], {
    version: VERSION,
    nodeVersion: process.version,
    env: {},
    cwd: ROOT,
    userHome: folder,
    now: () => Date.now(),
    platform: process.platform,
    readInput: async () => ({ kind: 'none' }),
    print: (part) => void (text += part),
    printError: (part) => void process.stderr.write(part),
    terminal: { columns: COLUMNS },
    signal: new AbortController().signal,
  })
  if (code !== 0) throw new Error(`the replay ended with ${code}`)
  return text
}

async function photograph(page: string, executable: string): Promise<void> {
  const browser = await launchChromium(executable)
  const shown = await browser.newPage({ viewport: PAGE, colorScheme: 'light' })
  await shown.goto(pathToFileURL(page).href)
  await shown.screenshot({ path: join(PICTURES, 'replay-page.png') })
  await browser.close()
}
