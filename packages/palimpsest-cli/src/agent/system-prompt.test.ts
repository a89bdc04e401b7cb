import { describe, expect, test } from 'vitest'

import { createWorkbench } from '../../../../test/kit/workbench.ts'
import { composeSystemPrompt, SYSTEM_PROMPT } from './system-prompt.ts'
import { offeredTools } from './tools/create-tools.ts'

/** Years, dates, paths of this machine, versions: what changes from day to day or from folder to folder breaks the cached prefix. */
const CHANGING = /\b20[1-9]\d\b|\d{4}-\d{2}-\d{2}|\/(home|tmp|Users|work)\b|v\d+\.\d+/

describe('the system prompt', () => {
  test('contains nothing that changes with the day, folder or machine', () => {
    expect(SYSTEM_PROMPT).not.toMatch(CHANGING)
    expect(SYSTEM_PROMPT).not.toContain(process.cwd())
  })

  test('is replaced or extended as the flags say', () => {
    expect(composeSystemPrompt()).toBe(SYSTEM_PROMPT)
    expect(composeSystemPrompt({ systemPrompt: 'Own.' })).toBe('Own.')
    expect(composeSystemPrompt({ appendSystemPrompt: 'More.' })).toBe(`${SYSTEM_PROMPT}\n\nMore.`)
    expect(composeSystemPrompt({ systemPrompt: 'Own.', appendSystemPrompt: 'More.' })).toBe('Own.\n\nMore.')
    expect(composeSystemPrompt({ systemPrompt: '', appendSystemPrompt: 'More.' })).toBe('More.')
  })

  test('names only tools that exist', async () => {
    const bench = await createWorkbench()
    const names = new Set(bench.tools.map(({ name }) => name))
    const mentioned =
      SYSTEM_PROMPT.match(
        /\b(Read|Write|Edit|Bash|Grep|Glob|WebFetch|TodoWrite|AskUser|Recall|Task|Agent)\b/g,
      ) ?? []
    expect(mentioned.filter((name) => !names.has(name))).toEqual([])
    await bench.dispose()
  })
})

describe('the tools', () => {
  test('(R1) have the same names, descriptions and schemas in every folder, in the same order', async () => {
    const benches = [
      await createWorkbench(),
      await createWorkbench({ mode: 'plan', rules: { deny: ['Bash'] } }),
    ]
    const [first, second] = benches.map(({ tools }) =>
      JSON.stringify(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))),
    )
    expect(first).toBe(second)
    expect(first).not.toMatch(CHANGING)
    expect(offeredTools(benches[0]?.tools ?? []).map(({ name }) => name)).toEqual([
      'Read',
      'Write',
      'Edit',
      'Bash',
      'TaskOutput',
      'TaskStop',
      'Grep',
      'Glob',
      'WebFetch',
      'TodoWrite',
      'AskUser',
      'Recall',
      'Agent',
      'ExitPlanMode',
      'SendMessage',
    ])
    for (const bench of benches) await bench.dispose()
  })

  test('refuse an empty input with a message, never with an exception', async () => {
    const bench = await createWorkbench({ mode: 'bypass' })
    for (const { name } of bench.tools) {
      const output = await bench.call(name, {})
      expect([name, output.isError]).toEqual([name, true])
    }
    await bench.dispose()
  })
})
