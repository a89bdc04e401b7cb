import type { Entry } from 'palimpsest/transcript'
import { describe, expect, test } from 'vitest'

import { say, tempProject } from '../../../../test/kit/temp-home.ts'
import { memoriesOf } from './memory-scopes.ts'
import { createRememberStated } from './remember-stated.ts'

async function remembering(begin: readonly Entry[] = []) {
  const project = await tempProject()
  const [memory] = memoriesOf(project, { now: () => 0 })
  if (!memory) throw new Error('unreachable: a project has memories')
  const state = { written: 0, isOn: true, told: [] as string[] }
  const remember = createRememberStated(
    {
      memory,
      sessionId: 's',
      mode: 'read-write',
      isOn: () => state.isOn,
      written: () => state.written,
      report: (text) => void state.told.push(text),
    },
    begin,
  )
  const names = async () => [...(await memory.folder.read()).texts.keys()]
  return { remember, names, state }
}

const said = (id: string, at: number, text: string): Entry => ({ ...say(id, null, text), at })

describe('what the user asks to be remembered', () => {
  test('is looked for once, from the turn before on, even after a rewind', async () => {
    const old = said('a', 1, 'Remember that the old server is called crane.')
    const { remember, names, state } = await remembering([old])
    const first = said('b', 2, 'Remember that the staging server is called heron.')
    await remember([old, first])
    expect(await names()).toEqual(['the-staging-server-is-called-heron'])
    await remember([old, first])
    await remember([old])
    const later = said('c', 3, 'Remember: we deploy on Tuesdays')
    await remember([old, later])
    expect(await names()).toEqual(['the-staging-server-is-called-heron', 'we-deploy-on-tuesdays'])
    expect(state.told).toHaveLength(2)
  })

  test('is left to the model if it wrote a memory in the same turn, and waits while the flag is off', async () => {
    const { remember, names, state } = await remembering()
    const first = said('a', 1, 'Remember: we deploy on Tuesdays')
    state.written++
    await remember([first])
    expect(await names()).toEqual([])
    state.isOn = false
    const second = said('b', 2, 'Remember: the staging server is called heron')
    await remember([first, second])
    expect(await names()).toEqual([])
    state.isOn = true
    await remember([first, second])
    expect(await names()).toEqual(['the-staging-server-is-called-heron'])
  })
})
