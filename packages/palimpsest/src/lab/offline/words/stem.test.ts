import { describe, expect, test } from 'vitest'

import { relatedStems } from './related-words.ts'
import { splitIdentifier } from './split-identifier.ts'
import { stem, stemPattern } from './stem.ts'
import { wordClass } from './word-classes.ts'

describe('one key for the forms of a word', () => {
  test.each([
    'compute computed computes computing computation',
    'retry retries retried retrying',
    'cache cached caches caching',
    'validate validation validated valid',
    'expire expires expired expiry',
    'throw throws thrown threw',
    'serialize serialized serialization serializer',
    'subscribe subscriber subscription subscribed',
    'store stored stores storage',
    'threshold thresholds',
    'concurrent concurrency',
  ])('%s', (forms) => {
    expect(new Set(forms.split(' ').map(stem)).size).toBe(1)
  })

  test.each([
    ['header', 'head'],
    ['need', 'nee'],
    ['history', 'store'],
    ['number', 'numb'],
  ])('%s is not %s', (one, other) => {
    expect(stem(one)).not.toBe(stem(other))
  })
})

describe('a stem as a pattern', () => {
  test.each([
    ['retry', ['const retryCount', 'maxRetries', 'RETRY_MAX', 'http_retry'], ['geometry']],
    ['store', ['class MemoryStore', 'stored', 'STORAGE'], ['history', 'restore']],
    ['max', ['MAX_SIZE', 'kMaxSize', 'max('], ['maxims', 'climax']],
    ['written', ['wrote it', 'writeFile'], ['underwrite']],
  ])('%s is found at the start of words, and nowhere else', (word, found, other) => {
    const pattern = new RegExp(stemPattern(stem(word)))
    for (const text of found) expect([text, pattern.test(text)]).toEqual([text, true])
    for (const text of other) expect([text, pattern.test(text)]).toEqual([text, false])
  })
})

test('identifiers are split at capitals, after digits and at punctuation', () => {
  expect(splitIdentifier('keepAliveTimeout')).toEqual(['keep', 'alive', 'timeout'])
  expect(splitIdentifier('HTTPServer_MAX-size')).toEqual(['http', 'server', 'max', 'size'])
  expect(splitIdentifier('isIPv6')).toEqual(['is', 'ipv6'])
})

test('words are weighed before anything is known about the code', () => {
  expect(['the', 'happens', 'big', 'socket'].map(wordClass)).toEqual(['stop', 'frame', 'everyday', 'telling'])
})

test('short and long forms mean the same; everyday words may stand for technical ones', () => {
  expect(relatedStems(stem('configuration')).get(stem('options'))).toBe('same')
  expect(relatedStems(stem('wait')).get(stem('delay'))).toBe('meant')
  expect(relatedStems('nosuchword').size).toBe(0)
})
