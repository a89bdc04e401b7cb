import { expect, test } from 'vitest'

import type { MessageEntry } from '../../transcript/entry.ts'
import { viewOf } from '../../transcript/view.ts'
import type { WireMessage } from '../../wire/message.ts'
import { planMedia, REQUEST_BYTES_MAX } from './media.ts'

const IMAGE_BYTES = 1024 * 1024

test('all media stay up to 80% of the byte limit', () => {
  expect(planMedia(shown(10), 0.8 * REQUEST_BYTES_MAX)).toBeUndefined()
})

test('above it the oldest become markers until there is spare room, so that not every further image costs an edit', () => {
  const plan = planMedia(shown(10), 0.8 * REQUEST_BYTES_MAX + 1)
  // From 80% of 32 MB down to 60%.
  expect(plan?.replace.map(({ at }) => at.entry)).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6'])
  expect(plan?.firstNode).toBe(0)
  expect(plan?.replace[0]?.with).toEqual(['{"type":"text","text":"[image]"}'])
})

test('an image that no request has carried stays, however large', () => {
  expect(planMedia(shown(1), REQUEST_BYTES_MAX)?.replace).toHaveLength(1)
  expect(planMedia(viewOf([message('u', imageMessage())]), 2 * REQUEST_BYTES_MAX)).toBeUndefined()
})

function shown(count: number) {
  return viewOf(
    Array.from({ length: count }, (_, i) => [
      message(`u${i}`, imageMessage()),
      message(`a${i}`, { role: 'assistant', content: [{ type: 'text', text: 'seen' }] }),
    ]).flat(),
  )
}

function imageMessage(): WireMessage {
  const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(IMAGE_BYTES) } as const
  return { role: 'user', content: [{ type: 'image', source }] }
}

function message(id: string, wire: WireMessage): MessageEntry {
  const origin = wire.role === 'assistant' ? 'model' : 'user'
  return { id, parent: null, at: 0, kind: 'message', origin, message: wire, json: JSON.stringify(wire) }
}
