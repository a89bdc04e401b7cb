import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { drive } from 'palimpsest/conversation'
import { expect, test } from 'vitest'

import { createCommandBench } from '../kit/command-bench.ts'
import { call, text } from '../kit/headless.ts'
import { openScreen, typeCommands } from '../kit/open-screen.ts'

// Commands that are typed behind a slash, in the process of the test, with lines for a screen.

const { signal } = new AbortController()

/** `typed` are answers to questions, in order. */
async function openTalk(typed: readonly string[] = []) {
  const bench = await createCommandBench()
  bench.simulator.addSteps([
    { content: [text('I **look**.'), call('Read', { file_path: 'a.txt' })] },
    { content: [text('It says ``` <b>.')] },
  ])
  await writeFile(join(bench.folder, 'a.txt'), 'one <two>\n')
  await writeFile(join(bench.folder, 'AGENTS.md'), 'Be brief.\n')
  const conversation = await openScreen(bench, {})
  const commands = typeCommands(bench, conversation)
  commands.answer(...typed)
  return { bench, conversation, ...commands }
}

test('/export writes Markdown, a page, the transcript itself, or text', async () => {
  const { bench, conversation, run } = await openTalk()
  expect(await run('/export a.md')).toContain('nothing has been said yet')
  await drive(conversation.say('What is in <a.txt>?', signal), () => undefined)
  const written = async (name: string): Promise<string> => {
    expect(await run(`/export ${name}`)).toContain(`written to ${join(bench.folder, name)}`)
    return await readFile(join(bench.folder, name), 'utf8')
  }
  const markdown = await written('a.md')
  expect(markdown).toMatch(
    /^## You\n\nWhat is in <a\.txt>\?\n\n## Agent\n\nI \*\*look\*\*\.\n\n\*\*Read\(a\.txt\)\*\*/,
  )
  expect(markdown).toMatch(
    /## Result\n\n\*\*Result\*\*\n\n```\n[^]*one <two>[^]*\n```\n\n## Agent\n\nIt says ``` <b>\.\n/,
  )
  const page = await written('a.html')
  expect(page).toContain('<h2>You</h2><p style="white-space:pre-wrap">What is in &lt;a.txt&gt;?</p>')
  expect(page).not.toContain('<b>')
  expect(await written('a.jsonl')).toBe(await readFile(conversation.prepared.opened.file.path, 'utf8'))
  expect(await written('a.txt.log')).toContain('> What is in <a.txt>?')
  expect(await run('/export a.md')).toMatch(/not written: .*Name another file/s)
  await conversation.close()
})

test('/permissions adds a rule that applies at once, lists it with its place, and removes it', async () => {
  const { bench, conversation, run, place } = await openTalk(['q'])
  expect(await run('/permissions add Bash(make:*)')).toContain('· added: allow Bash(make:*)')
  expect(JSON.parse(await readFile(join(bench.home, 'settings.json'), 'utf8'))).toEqual({
    permissions: { allow: ['Bash(make:*)'] },
  })
  expect(await run('/permissions')).toMatch(/Mode: default[^]*allow {2}Bash\(make:\*\) {2}your settings/)
  const permitted = async (): Promise<boolean> => {
    const { tools, permit } = conversation.prepared.setup
    const bash = tools.find(({ name }) => name === 'Bash')
    if (!bash) return false
    return (await permit(bash, { command: 'make all' }, { toolUseId: 't', signal })).allow
  }
  expect(await permitted()).toBe(true)
  expect(await run('/permissions rm Bash(make:*)')).toContain('· removed: allow Bash(make:*)')
  expect(await permitted()).toBe(false)
  expect(await run('/permissions add Bash(')).toContain('! ')
  expect(await run('/plan')).toContain('plan: reads only')
  expect(place.conversation.prepared.permissions.mode()).toBe('plan')
  await conversation.close()
})

test('/cost day sets what a day may cost, here and from now on, and removes the limit', async () => {
  const { conversation, run } = await openTalk()
  expect(await run('/cost')).toContain('today: $0.0000 in all sessions; /cost day 5 sets a limit')
  expect(await run('/cost day 2.5')).toContain('of at most $2.5 a day (setting limits.dailyCostUsd)')
  expect(conversation.prepared.day.maxUsd()).toBe(2.5)
  expect(await run('/cost day off')).toContain('sets a limit')
  expect(await run('/cost two dollars')).toContain('! type /cost day 5')
  await conversation.close()
})

test('/status, /hooks and /doctor show what applies', async () => {
  const { conversation, run } = await openTalk()
  const status = await run('/status')
  expect(status).toMatch(/ {2}instructions +AGENTS\.md\n/)
  expect(status).toContain(conversation.id)
  expect(await run('/hooks')).toContain('no hooks')
  expect(await run('/doctor')).toMatch(/ {2}(?:ok|note|BAD) +settings/)
  expect(await run('/nonsense')).toContain('there is no command /nonsense')
  await conversation.close()
})
