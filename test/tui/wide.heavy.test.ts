import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { call, createBench, put, text } from '../kit/headless.ts'
import { HAS_TMUX, openTerminal } from '../kit/tmux.ts'

// The same screens as on a terminal of 80 by 24, on one of 120 by 40: nothing is cut or wrapped that has room.

const MODEL = 'claude-sonnet-5-5'
const TABLE = '| file | lines |\n| --- | ---: |\n| a.ts | 1 |\n| b.ts | 12 |'
const TODOS = [
  { content: 'Read the file', status: 'completed', activeForm: 'Reading the file' },
  { content: 'Change it', status: 'in_progress', activeForm: 'Changing it' },
]

describe.skipIf(!HAS_TMUX)('a wide screen', () => {
  test('shows a list, a diff, the output of a command with its exit code, and a table; and what is allowed, and which models there are', async () => {
    const bench = await createBench({
      script: [
        { content: [call('TodoWrite', { todos: TODOS }), call('Read', { file_path: 'a.ts' })] },
        { content: [call('Edit', { file_path: 'a.ts', old_string: 'a = 1', new_string: 'a = 2' })] },
        { content: [call('Bash', { command: 'printf "one\\ntwo\\n"; exit 3' })] },
        { content: [text(`Done:\n\n${TABLE}`)] },
      ],
    })
    await writeFile(join(bench.folder, 'a.ts'), 'export const a = 1\n')
    await put(
      join(bench.home, 'settings.json'),
      '{"permissions":{"allow":["Bash(npm test)"],"ask":["Bash(git push:*)"]}}',
    )
    const terminal = await openTerminal({
      folder: bench.folder,
      env: {
        PALIMPSEST_HOME: bench.home,
        HOME: bench.userHome,
        NO_COLOR: '1',
        PALIMPSEST_BASE_URL: bench.url,
      },
      args: ['--model', MODEL, '--permission-mode', 'accept-edits'],
      columns: 120,
      rows: 40,
    })
    const shown = (screen: string): string =>
      `${screen
        .replaceAll(bench.url, 'URL')
        .replaceAll(bench.folder, 'FOLDER')
        .replaceAll(bench.home, 'HOME')
        .replaceAll(/palimpsest \d+\.\d+\.\d+/g, 'palimpsest VERSION')
        .replaceAll(/─{20,}/g, '────')
        .replaceAll(/\$\d+\.\d+/g, '$N')
        .replaceAll(/~?\b\d+(?:\.\d+)?(?: ms| s| min \d+ s)(?=\W|$)/gm, 'TIME')
        .replaceAll(/~?\b\d+(?:\.\d+)?(k|%)(?=\W|$)/gm, 'N$1')}\n`
    await terminal.until(/context left/)
    await terminal.type('Make a 2')
    await terminal.press('Enter')
    const turn = await terminal.until(/b\.ts +12\n\n─+\n> *\n.*[^~]\$\d/)
    await expect(shown(turn)).toMatchFileSnapshot('screens/wide-turn.txt')
    await terminal.type('/permissions')
    await terminal.press('Enter')
    await expect(shown(await terminal.until(/git push[\s\S]*Esc/))).toMatchFileSnapshot(
      'screens/wide-permissions.txt',
    )
    await terminal.press('Escape')
    await terminal.until(/^> *\n.*context left/m)
    await terminal.type('/model')
    await terminal.press('Enter')
    // The model that is used stands first: Enter changes nothing.
    expect(await terminal.until(/type to search/)).toMatch(/▸ claude-sonnet-5-5 +window/)
  })
})
