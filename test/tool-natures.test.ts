import { expect, test } from 'vitest'

import { createMemoryTaskLog } from '../packages/palimpsest/src/layers/7-agents/team/memory-task-log.ts'
import { createTaskList } from '../packages/palimpsest/src/layers/7-agents/team/task-list.ts'
import { createWorkbench } from './kit/workbench.ts'
import { natureOf, type ToolNature } from '../packages/palimpsest/src/facts/tool-natures.ts'
import { factsOf } from '../packages/palimpsest-cli/src/agent/permissions/call-facts.ts'
import { TOOL_NATURES, type OwnNature } from '../packages/palimpsest-cli/src/agent/tools/tool-natures.ts'

test('every tool has a row, and no row is of a tool that no longer exists', async () => {
  const now = (): number => 1
  const about = { self: 'ann', leaseMs: 1000 }
  const list = createTaskList({ log: createMemoryTaskLog(), clock: { now }, isLeader: false, ...about })
  const quiet = { now, members: async () => [], objections: async () => [], report: () => undefined }
  const bench = await createWorkbench({ team: { list, ...about, ...quiet } })
  expect(bench.tools.map(({ name }) => name).toSorted()).toEqual(Object.keys(TOOL_NATURES).toSorted())
  await bench.dispose()
})

test('a call of any tool with everything that its schema requires can be judged', async () => {
  const bench = await createWorkbench({})
  for (const tool of bench.tools) {
    const required = Array.isArray(tool.inputSchema['required']) ? tool.inputSchema['required'] : []
    const input = Object.fromEntries(
      required.map((name): [string, string] => [
        String(name),
        name === 'url' ? 'https://example.com/' : 'sample',
      ]),
    )
    const facts = factsOf(tool, input, bench.access, async () => [])
    await expect(
      facts,
      `${tool.name}: packages/palimpsest-cli/src/agent/permissions/call-facts.ts`,
    ).resolves.toBeDefined()
  }
  await bench.dispose()
})

/** What the library calls the same. */
const KNOWN_AS: { readonly [Nature in OwnNature]: readonly ToolNature[] } = {
  read: ['read'],
  search: ['search'],
  write: ['write', 'edit'],
  run: ['run'],
  fetch: ['fetch'],
  inner: ['todo', 'ask', 'plan', 'look', 'stop', 'recall', 'agent', 'tasks', 'message'],
}

test.each(Object.entries(TOOL_NATURES))('the library knows that %s is of the kind "%s"', (name, nature) => {
  expect(KNOWN_AS[nature]).toContain(natureOf(name))
})
