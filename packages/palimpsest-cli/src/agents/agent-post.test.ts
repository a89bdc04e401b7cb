import { describe, expect, test } from 'vitest'

import { createAgentPost } from './agent-post.ts'

// Messages within one process, without a model.

function createPost() {
  return createAgentPost({
    seated: undefined,
    sessions: () => undefined,
    now: () => 1,
    onAnswer: () => undefined,
  })
}

const word = (to: string, message: string | object = 'hello') => ({
  to,
  message:
    typeof message === 'string'
      ? message
      : { type: 'shutdown_request' as const, request_id: 'r', ...message },
  summary: 'a word',
})

describe('the post of one process', () => {
  test('what an agent did not read before it ended goes back to the sender', async () => {
    const post = createPost()
    const [ann, bob] = [post.join('ann', '1a'), post.join('bob', '2b')]
    await ann.send(word('bob'))
    await post.main.send(word('2b', 'by its id'))
    await post.leave(bob)
    expect(await bob.unread()).toEqual([])
    const [toAnn, toMain] = [await ann.unread(), await post.main.unread()]
    expect([...toAnn, ...toMain].map(({ from, to, message }) => [from, to, message])).toEqual([
      ['palimpsest', 'ann', 'bob ended before it read your message: a word'],
      ['palimpsest', 'main', 'bob ended before it read your message: a word'],
    ])
    await expect(ann.send(word('bob'))).rejects.toThrow('bob has ended and reads no more')
    await expect(post.main.send(word('*'))).resolves.toBe('Sent to ann.')
  })

  test('a name belongs to one agent while it works; an agent whose name is not allowed goes by its id', async () => {
    const post = createPost()
    expect([
      post.nameFor('Parser fix!', '1a'),
      post.nameFor('ß', '1a'),
      post.nameFor(undefined, '1a'),
    ]).toEqual([{ name: 'Parser-fix' }, { name: '1a' }, { name: '1a' }])
    const ann = post.join('ann', '1a')
    const taken = { why: 'Somebody is called ann already. Give the agent another name.' }
    expect([post.nameFor('ann', '2b'), 'why' in post.nameFor('user', '2b')]).toEqual([taken, true])
    const posing = ['Main', 'Ada', '11111111-2222-4333-8444-555555555555'].map((name) =>
      post.nameFor(name, '2b', ['leader', 'ada']),
    )
    expect(posing.map((called) => 'why' in called)).toEqual([true, true, true])
    await post.leave(ann)
    expect(post.nameFor('ann', '2b')).toEqual({ name: 'ann' })
  })

  test('a full mailbox is reported to the sender, and all others still get the message', async () => {
    const post = createPost()
    const [ann] = [post.join('ann', '1a'), post.join('bob', '2b')]
    for (let n = 0; n < 1_000; n++) await post.main.send(word('bob'))
    await expect(ann.send(word('bob'))).rejects.toThrow('the mailbox of bob is full')
    expect(await ann.send(word('*'))).toMatch(
      /^Sent to main\. Not sent to bob: It was not sent: the mailbox of bob is full/,
    )
  })
})
