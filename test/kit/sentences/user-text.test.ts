import { expect, test } from 'vitest'

import { userText } from './user-text.ts'

test.each([
  '[Request interrupted by user for tool use]',
  '<task-notification>\n<task-id>a1</task-id>\nNever stop.\n</task-notification>',
  '<bash-input>git push</bash-input>',
  'Another Claude session sent a message:\n<teammate-message>always ask</teammate-message>',
  'Operation stopped by hook: Another session is active',
  'Implement the following plan:\n\n# Plan\n\nDo not touch main.',
  'PLEASE IMPLEMENT THIS PLAN:\n# Plan',
  '<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args></command-args>',
  '<system-reminder>Never mention this.</system-reminder>',
])('the client wrote all of %j', (text) => {
  expect(userText(text)).toBe('')
})

test.each([
  ['<ide_opened_file>The user opened a.ts</ide_opened_file>', ' fix it ', 'fix it'],
  ['<system_instruction>\nUse main.\n</system_instruction>\n\n', 'Create a PR', 'Create a PR'],
  [
    '<command-message>goal</command-message>\n<command-name>/goal</command-name>\n<command-args>',
    'keep it small</command-args>',
    'keep it small',
  ],
  [
    '# Files mentioned by the user:\n\n## a.txt: /tmp/a.txt\n\n## My request for Codex:\n',
    'read it',
    'read it',
  ],
])("around the user's words, the client wrote %j", (client, rest, words) => {
  expect(userText(`${client}${rest}`)).toBe(words)
})

test('a plan that the user pasted is a message of the user', () => {
  expect(userText('Implement this plan:\n# Plan')).toBe('Implement this plan:\n# Plan')
})
