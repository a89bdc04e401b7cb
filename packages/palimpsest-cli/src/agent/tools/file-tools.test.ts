import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { createWorkbench, textOf, type Workbench } from '../../../../../test/kit/workbench.ts'
import { EDITED_BYTES_MAX } from '../files/file-limits.ts'

let bench: Workbench
beforeEach(async () => {
  bench = await createWorkbench({ mode: 'accept-edits' })
})
afterEach(() => bench.dispose())

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(bench.work, name), content)
  return join(bench.work, name)
}
const read = async (input: { file_path: string; offset?: number; limit?: number }): Promise<string> =>
  textOf(await bench.call('Read', input))

describe('Read', () => {
  test('shows lines with their numbers', async () => {
    file('a.txt', 'one\ntwo\n\nfour')
    expect(await read({ file_path: 'a.txt' })).toBe('     1\tone\n     2\ttwo\n     3\t\n     4\tfour')
  })

  test('pages, and says how to continue', async () => {
    file('a.txt', Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join(''))
    expect(await read({ file_path: 'a.txt', offset: 10, limit: 2 })).toBe(
      '    10\tline 10\n    11\tline 11\n[Lines 10-11 of 5000 are shown. Go on with offset=12.]',
    )
    expect((await read({ file_path: 'a.txt' })).split('\n').at(-1)).toBe(
      '[Lines 1-2000 of 5000 are shown. Go on with offset=2001.]',
    )
    expect(await read({ file_path: 'a.txt', offset: 4999 })).toBe('  4999\tline 4999\n  5000\tline 5000')
    expect(await bench.call('Read', { file_path: 'a.txt', offset: 6000 })).toEqual({
      content: 'The file has 5000 lines; offset=6000 is behind its end.',
      isError: true,
    })
  })

  test('is bounded in characters too, at whole lines, and every line can be reached', async () => {
    file('wide.txt', Array.from({ length: 300 }, (_, i) => `${i}${'x'.repeat(990)}\n`).join(''))
    let offset = 1
    let seen = 0
    for (let pages = 0; pages < 10 && offset > 0; pages++) {
      const page = await read({ file_path: 'wide.txt', offset })
      expect(Buffer.byteLength(page)).toBeLessThan(101_000)
      seen += page.split('\n').filter((line) => /^ *\d+\t/.test(line)).length
      offset = Number(/Go on with offset=(\d+)/.exec(page)?.[1] ?? 0)
    }
    expect(seen).toBe(300)
  })

  test('cuts long lines, but less when fewer lines are requested, and never inside a character', async () => {
    file('long.txt', `${'é😀'.repeat(40_000)}\nshort\n`)
    expect(await read({ file_path: 'long.txt' })).toMatch(
      /^ {5}1\t(é😀)+é?… \[\d+ more characters in this line\]\n {5}2\tshort\n\[Long lines/,
    )
    const one = await read({ file_path: 'long.txt', limit: 1 })
    expect(one.length).toBeGreaterThan(90_000)
    expect(one.isWellFormed()).toBe(true)
  })

  test('accepts numbers written as strings', async () => {
    file('a.txt', 'one\ntwo\n')
    expect(textOf(await bench.call('Read', { file_path: 'a.txt', offset: '2', limit: '1' }))).toBe(
      '     2\ttwo',
    )
  })

  test.each([
    ['CRLF', 'one\r\ntwo\r\n', '     1\tone\n     2\ttwo'],
    ['a byte order mark', '\uFEFFone\n', '     1\tone'],
    ['UTF-16', Buffer.from('\uFEFFone\nzwei ä', 'utf16le'), '     1\tone\n     2\tzwei ä'],
    ['no lines at all', '', '(The file is there and is empty.)'],
    ['terminal escapes, kept for the model', '\u001B[31mred\u001B[0m', '     1\t\u001B[31mred\u001B[0m'],
  ])('reads a file with %s', async (_, content, expected) => {
    file('a.txt', content)
    expect(await read({ file_path: 'a.txt' })).toBe(expected)
  })

  test('shows bytes that are not UTF-8 as U+FFFD, and says so', async () => {
    file('a.txt', Uint8Array.from([0x61, 0xff, 0x62, 0x0a]))
    expect(await read({ file_path: 'a.txt' })).toMatch(
      /^ {5}1\ta\uFFFDb\n\[The file holds bytes that are no UTF-8/,
    )
  })

  test.each([
    ['89504e470d0a1a0a0000000d49484452'],
    ['ffd8ffe000104a464946'],
    ['474946383961'],
    ['52494646ffff0000574542505650'],
  ])('reports an image whose end is missing instead of sending it: %s', async (hex) => {
    file('half.bin', Buffer.from(hex, 'hex'))
    expect(await read({ file_path: 'half.bin' })).toMatch(/half\.bin is a damaged image: its end is missing/)
  })

  test('returns images as pictures, recognised by their bytes', async () => {
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    file('picture.txt', png)
    expect(await bench.call('Read', { file_path: 'picture.txt' })).toEqual({
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
      ],
    })
  })

  test.each([
    ['a PDF', '%PDF-1.7\n', /is a PDF/],
    ['a binary file', Uint8Array.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), /is a binary file/],
  ])('refuses %s clearly', async (_, content, expected) => {
    file('a.bin', content)
    const output = await bench.call('Read', { file_path: 'a.bin' })
    expect(output.isError).toBe(true)
    expect(textOf(output)).toMatch(expected)
  })

  test('refuses folders, pipes and devices without waiting', async () => {
    mkdirSync(join(bench.work, 'folder'))
    execFileSync('mkfifo', [join(bench.work, 'pipe')])
    symlinkSync('/dev/zero', join(bench.work, 'zero'))
    expect(await read({ file_path: 'folder' })).toMatch(/is a folder\. List it with Glob/)
    expect(await read({ file_path: 'pipe' })).toMatch(/is a pipe, socket or device/)
    expect(await read({ file_path: 'zero' })).toMatch(/needs permission/)
    expect(await read({ file_path: '/proc/self/environ' })).toMatch(/needs permission/)
  })

  test('does not read what the program itself knows, even when everything is allowed', async () => {
    const free = await createWorkbench({ mode: 'bypass' })
    for (const path of ['/proc/self/environ', '/dev/zero', '/proc/self/fd/0', '/sys/kernel/uevent_seqnum']) {
      expect(textOf(await free.call('Read', { file_path: path }))).toMatch(
        /is no file on a disk|Cannot|There is no file/,
      )
    }
    await free.dispose()
  })

  test('pages through a file that is too large for memory', async () => {
    const [line, count] = ['0123456789'.repeat(100), 34_000]
    const path = file('huge.log', `${`${line}\n`.repeat(count)}last\n`)
    expect(statSync(path).size).toBeGreaterThan(EDITED_BYTES_MAX)
    expect(await read({ file_path: 'huge.log', limit: 1 })).toBe(
      `     1\t${line}\n[Lines 1-1 are shown. Go on with offset=2.]`,
    )
    expect(await read({ file_path: 'huge.log', offset: count + 1 })).toBe(' 34001\tlast')
    expect(
      textOf(await bench.call('Edit', { file_path: 'huge.log', old_string: 'last', new_string: 'x' })),
    ).toMatch(/too large/)
  })

  test('suggests names for a file that does not exist', async () => {
    file('Config.ts', '')
    expect(await read({ file_path: 'config.js' })).toBe(
      `There is no file at ${join(bench.work, 'config.js')}. Did you mean ${join(bench.work, 'Config.ts')}?`,
    )
    expect(await read({ file_path: 'nowhere/x.ts' })).toMatch(/There is no file at .*\. Find it with Glob\./)
  })

  test('reads stored results of the session, which are outside the working folder', async () => {
    mkdirSync(join(bench.sessionFolder, 'tool-results'))
    writeFileSync(join(bench.sessionFolder, 'tool-results', 'toolu_1.txt'), 'stored\n')
    expect(await read({ file_path: join(bench.sessionFolder, 'tool-results', 'toolu_1.txt') })).toBe(
      '     1\tstored',
    )
  })

  test.each([
    [{}, /lacks "file_path"/],
    [{ file_path: 7 }, /"file_path" must be a string, not a number/],
    [{ file_path: '' }, /path is empty/],
    [{ file_path: 'a\0b' }, /NUL/],
    [{ file_path: 'x'.repeat(5000) }, /longer than/],
    [{ file_path: 'a.txt', limit: 0 }, /"limit" must be a whole number/],
    [{ file_path: 'a.txt', offset: 'ten' }, /"offset" must be a whole number/],
  ])('refuses the input %j', async (input, expected) => {
    const output = await bench.call('Read', input)
    expect(output.isError).toBe(true)
    expect(textOf(output)).toMatch(expected)
  })
})

describe('Write', () => {
  test('creates a file and the folders above it', async () => {
    expect(textOf(await bench.call('Write', { file_path: 'a/b/c.txt', content: 'x\ny\n' }))).toBe(
      `Made ${join(bench.work, 'a/b/c.txt')} (2 lines).`,
    )
    expect(readFileSync(join(bench.work, 'a/b/c.txt'), 'utf8')).toBe('x\ny\n')
  })

  test('replaces only what was read and is unchanged since', async () => {
    const path = file('a.txt', 'old')
    expect(textOf(await bench.call('Write', { file_path: 'a.txt', content: 'new' }))).toMatch(
      /was not read yet/,
    )
    await read({ file_path: 'a.txt' })
    file('a.txt', 'changed by somebody')
    expect(textOf(await bench.call('Write', { file_path: 'a.txt', content: 'new' }))).toMatch(
      /changed since it was read/,
    )
    expect(readFileSync(path, 'utf8')).toBe('changed by somebody')
    await read({ file_path: 'a.txt' })
    expect(await bench.call('Write', { file_path: 'a.txt', content: 'new' })).toEqual({
      content: `Replaced the content of ${path} (1 line).`,
    })
    // What was just written is known.
    expect((await bench.call('Write', { file_path: 'a.txt', content: 'newer' })).isError).toBeUndefined()
  })

  test('leaves nothing but the file behind, and keeps its mode', async () => {
    const path = file('run.sh', '#!/bin/sh\n')
    chmodSync(path, 0o750)
    await read({ file_path: 'run.sh' })
    await bench.call('Write', { file_path: 'run.sh', content: '#!/bin/bash\n' })
    expect(statSync(path).mode & 0o777).toBe(0o750)
    expect(readdirSync(bench.work)).toEqual(['run.sh'])
  })

  test('(S1) a hard link to a file outside is cut, not written through', async () => {
    writeFileSync(join(bench.outside, 'target.txt'), 'outside')
    linkSync(join(bench.outside, 'target.txt'), join(bench.work, 'twin.txt'))
    await read({ file_path: 'twin.txt' })
    await bench.call('Write', { file_path: 'twin.txt', content: 'inside' })
    expect(readFileSync(join(bench.work, 'twin.txt'), 'utf8')).toBe('inside')
    expect(readFileSync(join(bench.outside, 'target.txt'), 'utf8')).toBe('outside')
  })

  test('refuses to overwrite a folder or to write through a file', async () => {
    mkdirSync(join(bench.work, 'folder'))
    file('plain', 'x')
    expect(textOf(await bench.call('Write', { file_path: 'folder', content: '' }))).toMatch(/is a folder/)
    expect(textOf(await bench.call('Write', { file_path: 'plain/x', content: '' }))).toMatch(
      /a part of the path is a file/,
    )
  })
})

describe('Edit', () => {
  const edit = async (input: {
    old_string: string
    new_string: string
    replace_all?: boolean
  }): Promise<string> => {
    await read({ file_path: 'a.txt' })
    return textOf(await bench.call('Edit', { file_path: 'a.txt', ...input }))
  }

  test('replaces an exact piece of text and says where', async () => {
    const path = file('a.txt', 'one\ntwo\nthree\n')
    expect(await edit({ old_string: 'two', new_string: 'zwei' })).toBe(
      `Replaced 1 occurrence in ${path} at line 2.`,
    )
    expect(readFileSync(path, 'utf8')).toBe('one\nzwei\nthree\n')
  })

  test('says how often and where a text occurs that is not unique', async () => {
    const path = file('a.txt', 'x\ny\nx\n')
    expect(await edit({ old_string: 'x', new_string: 'z' })).toBe(
      `old_string occurs 2 times in ${path}, at lines 1, 3. Nothing was changed. Take in more lines around the one you mean, or set replace_all.`,
    )
    expect(readFileSync(path, 'utf8')).toBe('x\ny\nx\n')
    expect(await edit({ old_string: 'x', new_string: 'z', replace_all: true })).toBe(
      `Replaced 2 occurrences in ${path} at lines 1, 3.`,
    )
  })

  test.each([
    ['line numbers of Read', '     2\ttwo', /line numbers of Read/],
    ['other white space', '\ttwo', /Line 2 is like its first line/],
    ['something else', 'nothing like it', /copy the text exactly/],
    ['nothing', '', /old_string is empty/],
  ])('helps where old_string holds %s', async (_, old, expected) => {
    file('a.txt', 'one\n  two\nthree\n')
    expect(await edit({ old_string: old, new_string: 'x' })).toMatch(expected)
  })

  test('needs a file that was read and is unchanged since', async () => {
    file('a.txt', 'one')
    expect(
      textOf(await bench.call('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' })),
    ).toMatch(/was not read yet/)
    await read({ file_path: 'a.txt' })
    file('a.txt', 'one two')
    expect(
      textOf(await bench.call('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' })),
    ).toMatch(/changed since/)
    expect(
      textOf(await bench.call('Edit', { file_path: 'gone.txt', old_string: 'a', new_string: 'b' })),
    ).toMatch(/Make it with Write/)
  })

  test.each([
    ['CRLF', Buffer.from('one\r\ntwo\r\n'), Buffer.from('one\r\n1\r\n2\r\n')],
    ['a byte order mark', Buffer.from('\uFEFFone\ntwo\n'), Buffer.from('\uFEFFone\n1\n2\n')],
    ['UTF-16', Buffer.from('\uFEFFone\ntwo\n', 'utf16le'), Buffer.from('\uFEFFone\n1\n2\n', 'utf16le')],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Uint8Array.of(0xff, 0xfd, 0x0a), Buffer.from('two')]),
      Buffer.concat([Uint8Array.of(0xff, 0xfd, 0x0a), Buffer.from('1\n2')]),
    ],
  ])('keeps %s', async (_, before, after) => {
    const path = file('a.txt', before)
    await edit({ old_string: 'two', new_string: '1\n2' })
    expect(readFileSync(path)).toEqual(after)
  })

  test('keeps the mode', async () => {
    chmodSync(file('a.txt', 'one'), 0o755)
    await edit({ old_string: 'one', new_string: 'two' })
    expect(statSync(join(bench.work, 'a.txt')).mode & 0o777).toBe(0o755)
  })

  test('edits the file that a link inside the folder leads to, and leaves the link', async () => {
    file('real.txt', 'one')
    symlinkSync('real.txt', join(bench.work, 'a.txt'))
    await edit({ old_string: 'one', new_string: 'two' })
    expect(readFileSync(join(bench.work, 'real.txt'), 'utf8')).toBe('two')
    expect(readdirSync(bench.work).toSorted()).toEqual(['a.txt', 'real.txt'])
  })
})
