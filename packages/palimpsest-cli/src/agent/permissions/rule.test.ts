import { describe, expect, test } from 'vitest'

import { findPermissionMode } from './permission-mode.ts'
import { parseRule, privateHostsOf, splitRuleList } from './rule.ts'

describe('rules', () => {
  test.each([
    ['Bash', 'Bash', undefined],
    [' Read ', 'Read', undefined],
    ['Bash(*)', 'Bash', undefined],
    ['Bash(npm run test:*)', 'Bash', 'npm run test:*'],
    ['Bash(echo "(a)")', 'Bash', 'echo "(a)"'],
    ['Read(./secrets/**)', 'Read', './secrets/**'],
    ['WebFetch(domain:*.example.com)', 'WebFetch', 'domain:*.example.com'],
    ['mcp__server__tool', 'mcp__server__tool', undefined],
    ['mcp__server*', 'mcp__server*', undefined],
  ])('%j', (text, tool, pattern) => {
    expect(parseRule(text, 'deny')).toEqual({
      ok: true,
      rule: { effect: 'deny', tool, text, ...(pattern === undefined ? {} : { pattern }) },
    })
  })

  test.each([
    '',
    'Bash(',
    'Bash)',
    '(x)',
    'Bash()',
    'Read(!x)',
    'Read(a[b)',
    'Read(a\\)',
    'Read(a\nb)',
    'WebFetch(example.com)',
    'TodoWrite(x)',
    'a b',
  ])('%j is not a rule', (text) => {
    expect(parseRule(text, 'allow').ok).toBe(false)
  })

  test('lists are split at commas and spaces outside parentheses', () => {
    expect(splitRuleList('Read, Edit  Bash(git log:*),Bash(echo (a, b) c) ')).toEqual([
      'Read',
      'Edit',
      'Bash(git log:*)',
      'Bash(echo (a, b) c)',
    ])
    expect(splitRuleList('')).toEqual([])
    expect(splitRuleList(String.raw`Bash(echo \) x),Bash(echo \\\( y) Read`)).toEqual([
      String.raw`Bash(echo \) x)`,
      String.raw`Bash(echo \\\( y)`,
      'Read',
    ])
  })

  test('only hosts that are allowed by name may be private', () => {
    const rules = ['WebFetch', 'WebFetch(domain:Localhost:3000)', 'Read'].flatMap((text) => {
      const parsed = parseRule(text, 'allow')
      return parsed.ok ? [parsed.rule] : []
    })
    expect(privateHostsOf(rules)).toEqual(['localhost:3000'])
  })

  test('modes have two spellings', () => {
    expect(
      [
        'default',
        'acceptEdits',
        'accept-edits',
        'plan',
        'bypassPermissions',
        'bypass',
        'yolo',
        'toString',
      ].map(findPermissionMode),
    ).toEqual(['default', 'accept-edits', 'accept-edits', 'plan', 'bypass', 'bypass', undefined, undefined])
  })
})
