import type { ModelEvent, StreamModel } from 'palimpsest'
import { expect, test } from 'vitest'

import { SETTINGS_SHAPE } from '../../agent/settings/settings-shape.ts'
import { chooseAndRoute } from './choose-and-route.ts'

const NO_SETTINGS = SETTINGS_SHAPE.none

test('a model that no key and no address leads to is answered by the offline model, and no server receives a request', async () => {
  const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', PALIMPSEST_MODEL: 'openai/m' }
  const { model, streamModel } = chooseAndRoute({ settings: NO_SETTINGS, userSettings: NO_SETTINGS }, { env })
  expect(model).toBe('openai/m')
  const events = await ask(streamModel, 'claude-sonnet-5-5')
  expect(events.map(({ type }) => type)).toContain('message_stop')
  await expect(ask(streamModel, 'openai/other')).rejects.toThrow(/127\.0\.0\.1:9/)
})

async function ask(stream: StreamModel, model: string): Promise<readonly ModelEvent[]> {
  const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'Hello.' }] })
  const events: ModelEvent[] = []
  const request = { body, betas: [], model, source: 'compact' as const }
  for await (const event of stream(request, new AbortController().signal)) events.push(event)
  return events
}
