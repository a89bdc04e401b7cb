import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { describe, expect, test, vi } from 'vitest'

import { apiPage, membersOf, type Member } from './kit/api-page.ts'
import { ROOT } from './kit/source-tree.ts'

// The guide shows programs: the very ones that run here, and what they print. `npx vitest run test/library-docs.test.ts -u` writes both into the pages.

const NAMES_MAX = 12
const PAGES = globSync('docs/library/*.md', { cwd: ROOT }).filter((path) => !path.endsWith('/api.md'))
const PROGRAM =
  /<!-- (examples\/library\/[\w-]+\.ts) -->\n(?:\n```ts\n[^]*?\n```\n\nIt prints:\n\n```text\n[^]*?\n```\n)?/g
const NAMES = /<!-- names of (\w+) -->\n(?:\n\|[^]*?\|\n(?=\n))?/g
const FRONT_DOORS: { readonly [name: string]: string } = {
  Agent: 'conversation/agent/agent.ts',
  Context: 'context/library/create-context.ts',
}

const programs = globSync('examples/library/*.ts', { cwd: ROOT })
const printed = new Map<string, string>()

/** A program runs as it is loaded. */
async function run(path: string): Promise<string> {
  const known = printed.get(path)
  if (known !== undefined) return known
  let text = ''
  const log = vi.spyOn(console, 'log').mockImplementation((...words) => void (text += `${words.join(' ')}\n`))
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((words) => {
    text += String(words)
    return true
  })
  try {
    await import(pathToFileURL(join(ROOT, path)).href)
  } finally {
    log.mockRestore()
    write.mockRestore()
  }
  printed.set(path, text.trimEnd())
  return text.trimEnd()
}

const shown = (members: readonly Member[]): string =>
  ['| name | | example |', '| --- | --- | --- |']
    .concat(
      members.map(({ name, about, example = '' }) => {
        const code = example
          .split('\n')
          .map((line) => line.trim())
          .join(' ')
        return `| \`${name}\` | ${about} | \`${code.replaceAll('|', '\\|')}\` |`
      }),
    )
    .join('\n')

describe('the guide', () => {
  test.each(PAGES)('%s shows programs that run, and what they print', async (page) => {
    const path = join(ROOT, page)
    let text = readFileSync(path, 'utf8')
    for (const [all, program = ''] of text.matchAll(PROGRAM)) {
      const code = readFileSync(join(ROOT, program), 'utf8').trimEnd()
      const block = `<!-- ${program} -->\n\n\`\`\`ts\n${code}\n\`\`\`\n\nIt prints:\n\n\`\`\`text\n${await run(program)}\n\`\`\`\n`
      text = text.replace(all, () => block)
    }
    text = text.replaceAll(NAMES, (_, name: string) => {
      const members = membersOf(FRONT_DOORS[name] ?? '', name)
      return `<!-- names of ${name} -->\n\n${shown(members)}\n`
    })
    await expect(text).toMatchFileSnapshot(path)
  })

  test('shows every program', () => {
    const pages = PAGES.map((page) => readFileSync(join(ROOT, page), 'utf8')).join('\n')
    expect(programs.filter((program) => !pages.includes(`<!-- ${program} -->`))).toEqual([])
    expect(programs.length).toBeGreaterThan(8)
  })

  test('has a reference of every public name', async () => {
    await expect(apiPage()).toMatchFileSnapshot(join(ROOT, 'docs/library/api.md'))
  })
})

test.each(Object.entries(FRONT_DOORS))(
  '%s has few names, each with a sentence and an example',
  (name, file) => {
    const members = membersOf(file, name)
    expect(members.length).toBeGreaterThan(6)
    expect(members.length).toBeLessThanOrEqual(NAMES_MAX)
    expect(members.filter(({ about, example }) => about === '' || example === undefined)).toEqual([])
  },
)
