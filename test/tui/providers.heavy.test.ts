import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { openChatServer } from '../kit/chat-server.ts'
import { call, createBench, sentBody, text } from '../kit/headless.ts'
import { openInside } from '../kit/terminal-inside.ts'

const READY = /left · .*\$\d.* · \S+$/m

describe('switching from one provider to another', () => {
  test('/model to a smaller window elsewhere: the previous model compacts first, then the new one answers', async () => {
    const bench = await createBench({ switches: { pastScript: 'offline' } })
    const server = await openChatServer([{ text: 'I go on from there.' }])
    const log = join(bench.folder, 'log.txt')
    await writeFile(log, 'a long and tedious harbour log\n'.repeat(1_500))
    bench.simulator.addSteps([
      { content: [call('Read', { file_path: log })] },
      { content: [text('The log is read.')] },
    ])
    const env = {
      PALIMPSEST_BASE_URL: undefined,
      ANTHROPIC_BASE_URL: bench.url,
      OPENAI_BASE_URL: server.url,
      PALIMPSEST_CONTEXT_TOKENS: '16000',
    }
    const args = ['--model', 'claude-sonnet-5-5']
    const terminal = openInside(bench, { env, args })
    const say = (words: string): void => {
      terminal.type(words)
      terminal.press('Enter')
    }
    await terminal.until(READY)
    say('Read the log.')
    await terminal.until(/The log is read/)
    const asked = bench.simulator.requests().length
    say('/model openai/small')
    await terminal.until(/· openai\/small$/m)
    say('Go on.')
    const end = await terminal.until(/I go on from there/)
    expect(end).toMatch(/compacted by .* tokens/)
    expect(bench.simulator.requests().slice(asked)).not.toEqual([])
    expect(sentBody(bench, -1)['model']).toBe('claude-sonnet-5-5')
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.promptTokens).toBeLessThan(16_000)
  })
})
