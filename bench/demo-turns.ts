import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { ScriptBlock } from '../packages/palimpsest/src/lab/simulator/index.ts'
import { ROOT } from '../test/kit/source-tree.ts'

// The session of the demo before it is recorded: what the user says, and what the model says where something is to be changed.

/** Stands in the recording, so it is always the same. */
export const FOLDER = '/tmp/palimpsest'
const PARTS = ['situation', 'tokens', 'ledger', 'wire', 'transcript']
const DOCS = ['tokens.md', 'transcript.md', 'cache-accounting.md', 'glossary.md']

export interface Turn {
  readonly prompt: string
  /** Without them the offline model answers. */
  readonly steps?: readonly (readonly ScriptBlock[])[]
}

const say = (text: string): ScriptBlock => ({ type: 'text', text })
const think = (thinking: string): ScriptBlock => ({ type: 'thinking', thinking })
const read = (path: string): ScriptBlock => call('Read', { file_path: join(FOLDER, path) })
const bash = (command: string, description: string): ScriptBlock => call('Bash', { command, description })
const write = (path: string, content: string): ScriptBlock =>
  call('Write', { file_path: join(FOLDER, path), content })
const edit = (path: string, before: string, after: string): ScriptBlock =>
  call('Edit', { file_path: join(FOLDER, path), old_string: before, new_string: after })
const todos = (...list: readonly (readonly [string, string])[]): ScriptBlock =>
  call('TodoWrite', { todos: list.map(([content, status]) => ({ content, status, activeForm: content })) })

function call(name: string, input: ScriptBlock['input'] & object): ScriptBlock {
  return { type: 'tool_use', name, input }
}

const CHECK = `import { percentLeft } from '../src/tokens/percent-left.ts'

const cases = [
  [0, 1000, 100],
  [250, 1000, 75],
  [1000, 1000, 0],
  [1700, 1000, 0],
]
for (const [used, effective, wanted] of cases) {
  const got = percentLeft(used, effective)
  if (got !== wanted) throw new Error(\`percentLeft(\${used}, \${effective}) is \${got}, not \${wanted}\`)
}
console.log(\`\${cases.length} cases hold\`)
`

const PERCENT = `/** The free share of an effective window, in whole percent. */
export function percentLeft(usedTokens: number, effectiveTokens: number): number {
  return Math.round((1 - usedTokens / effectiveTokens) * 100)
}
`

export const TURNS: readonly Turn[] = [
  { prompt: 'Where is the effective window computed, and what is subtracted from it?' },
  {
    prompt:
      'Add a function percentLeft(usedTokens, effectiveTokens) to src/tokens, in a file of its own, and check it with a script in checks/. Never change the names that src/tokens/index.ts exports today.',
    steps: [
      [
        think('A new file, a check, then the export. The index may only grow.'),
        say('I read what is there first.'),
        read('src/tokens/index.ts'),
        read('src/situation/thresholds.ts'),
      ],
      [
        todos(
          ['Write src/tokens/percent-left.ts', 'in_progress'],
          ['Check it with checks/percent-left.ts', 'pending'],
          ['Export it from src/tokens/index.ts', 'pending'],
          ['Describe it in docs/tokens.md', 'pending'],
        ),
        write('src/tokens/percent-left.ts', PERCENT),
        write('checks/percent-left.ts', CHECK),
      ],
      [bash('node checks/percent-left.ts', 'Run the check')],
      [
        say('Over the window it goes below zero. It has to stop at 0.'),
        edit(
          'src/tokens/percent-left.ts',
          'return Math.round((1 - usedTokens / effectiveTokens) * 100)',
          'return Math.max(0, Math.round((1 - usedTokens / effectiveTokens) * 100))',
        ),
      ],
      [bash('node checks/percent-left.ts', 'Run the check again')],
      [
        edit(
          'src/tokens/index.ts',
          "export { computeThresholds, reportContext } from './thresholds.ts'",
          "export { percentLeft } from './percent-left.ts'\nexport { computeThresholds, reportContext } from './thresholds.ts'",
        ),
        todos(
          ['Write src/tokens/percent-left.ts', 'completed'],
          ['Check it with checks/percent-left.ts', 'completed'],
          ['Export it from src/tokens/index.ts', 'completed'],
          ['Describe it in docs/tokens.md', 'pending'],
        ),
      ],
      [
        say(
          '`percentLeft` is in src/tokens/percent-left.ts and never goes below 0; checks/percent-left.ts passes its cases. The index exports one more name and has lost none. docs/tokens.md does not mention it yet.',
        ),
      ],
    ],
  },
  { prompt: 'How does the ledger decide whether a cached prefix can still be read?' },
  {
    prompt:
      'An endpoint here answers "context window exceeded: 40960 of 32768". Make the overflow parser understand it. Always run a check before you say that something works.',
    steps: [
      [say('The wordings are rows of a table.'), read('src/tokens/overflow.ts')],
      [
        edit(
          'src/tokens/overflow.ts',
          "  row(`exceeded max context length by ${N}`, ['excess']),",
          "  row(`exceeded max context length by ${N}`, ['excess']),\n  row(`context window exceeded: ${N} of ${N}`, ['used', 'limit']),",
        ),
        write(
          'checks/overflow.ts',
          "import { parseOverflow } from '../src/tokens/overflow.ts'\n\nconsole.log(parseOverflow('context window exceeded: 40960 of 32768'))\n",
        ),
      ],
      [bash('node checks/overflow.ts', 'Parse the new wording')],
      [
        say(
          'It is understood: 40,960 used of 32,768, an excess of 8,192. The row stands in src/tokens/overflow.ts beside the other one that names an excess.',
        ),
      ],
    ],
  },
  { prompt: 'What does a boundary entry hold, and which of it is needed to go on after one?' },
  {
    prompt:
      'Go through the checks and the largest files of src, and tell me what you would split first. Do not split anything yet.',
    steps: [
      [
        bash('wc -l src/*/*.ts | sort -rn | head -25', 'Sizes of the files'),
        bash('for f in checks/*.ts; do echo "== $f"; node "$f"; done', 'Run all checks'),
      ],
      [read('src/transcript/view.ts'), read('src/ledger/cache.ts')],
      [read('src/wire/parse.ts')],
      [
        say(
          'src/wire/parse.ts first: it reads requests, responses and stream events, three doors in one file. Both checks hold. I have split nothing.',
        ),
      ],
    ],
  },
  { prompt: 'How many tokens is an image taken for, and where does that number come from?' },
  {
    prompt: 'Now describe percentLeft in docs/tokens.md, in two sentences, and finish the list.',
    steps: [
      [read('docs/tokens.md')],
      [
        bash(
          "printf '\\n## What is left\\n\\n`percentLeft` gives the free share of the effective window, in whole percent. It never goes below 0.\\n' >> docs/tokens.md && tail -4 docs/tokens.md",
          'Add the two sentences',
        ),
        todos(
          ['Write src/tokens/percent-left.ts', 'completed'],
          ['Check it with checks/percent-left.ts', 'completed'],
          ['Export it from src/tokens/index.ts', 'completed'],
          ['Describe it in docs/tokens.md', 'completed'],
        ),
      ],
      [say('docs/tokens.md ends with a section "What is left". The list is done.')],
    ],
  },
  {
    prompt:
      'Was anything exported from src/tokens/index.ts renamed or removed in this session? Check it against what I asked for.',
    steps: [
      [bash('grep -c "" src/tokens/index.ts && cat src/tokens/index.ts', 'Show what is exported')],
      [bash('for f in checks/*.ts; do echo "== $f"; node "$f"; done', 'Run all checks once more')],
      [
        say(
          'No: one name was added, `percentLeft`, none renamed, none removed, as you asked. Both checks hold.',
        ),
      ],
    ],
  },
]

/** A part of this repository, to work on. */
export async function layOut(): Promise<void> {
  await mkdir(FOLDER)
  const library = join(ROOT, 'packages/palimpsest/src')
  for (const part of PARTS) {
    await mkdir(join(FOLDER, 'src', part), { recursive: true })
    for (const name of await readdir(join(library, part)))
      if (name.endsWith('.ts') && !name.endsWith('.test.ts'))
        await cp(join(library, part, name), join(FOLDER, 'src', part, name))
  }
  await mkdir(join(FOLDER, 'docs'))
  for (const name of DOCS) await cp(join(ROOT, 'docs', name), join(FOLDER, 'docs', name))
  await writeFile(join(FOLDER, 'package.json'), '{ "name": "palimpsest", "type": "module" }\n')
}
