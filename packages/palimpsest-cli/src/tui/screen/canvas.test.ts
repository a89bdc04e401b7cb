import { expect, test, vi } from 'vitest'

import { createTextScreen } from '../../../../../test/kit/screen-of-text.ts'
import { createPicker } from '../input/pick-item.ts'
import { createPager } from '../pager/create-pager.ts'
import { linesSource } from '../pager/page-source.ts'
import { line } from '../text/styled-line.ts'
import { createCanvas } from './canvas.ts'
import { createScreenState, type OpenQuestion } from './screen-state.ts'

const SIZE = { columns: 40, rows: 10 }

function question(title: string): OpenQuestion {
  const items = [{ label: 'Yes', letter: 'y', value: 'yes' }]
  return { picker: createPicker(title, items, false), proposal: () => [], answer: () => undefined }
}

function createStage() {
  const screen = createTextScreen(SIZE.columns, SIZE.rows)
  const state = createScreenState()
  const stage = { behind: '' }
  const console = {
    size: () => SIZE,
    write: screen.write,
    setOtherScreen: (isOn: boolean) => {
      if (isOn) stage.behind = screen.shown()
      screen.write(isOn ? '\x1b[?1049h' : '\x1b[?1049l')
    },
  }
  // Time stands still: every frame waits its whole pause.
  const canvas = createCanvas(console, state, { hasColour: false, now: () => 0 })
  const openPage = (): void => {
    const source = linesSource('what was removed', [[line('a line of the page')]])
    canvas.openPage(createPager(source, canvas.draw), () => undefined)
  }
  return { screen, state, stage, canvas, openPage }
}

test('an answered question is gone from the screen before a page covers it', async () => {
  const { screen, state, stage, canvas, openPage } = createStage()
  state.asked = question('Remove it?')
  canvas.draw()
  await vi.waitUntil(() => screen.shown().includes('Remove it?'), { timeout: 60_000 })
  state.asked = undefined
  canvas.draw()
  openPage()
  expect(stage.behind).not.toContain('Remove it?')
  expect(stage.behind).toMatch(/^>$/m)
  await vi.waitUntil(() => screen.shown().includes('a line of the page'), { timeout: 60_000 })
  canvas.closePage()
  expect(screen.shown()).toBe(stage.behind)
})

test('a question that came while a page was open is on the screen as soon as the page is left', () => {
  const { screen, state, canvas, openPage } = createStage()
  openPage()
  state.asked = question('Allow it?')
  canvas.draw()
  canvas.closePage()
  expect(screen.shown()).toMatch(/Allow it\?\n▸ \(y\) Yes\n/)
})
