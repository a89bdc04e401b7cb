import { toPrintable } from '../agent/printable.ts'
import type { RunWishes } from '../headless/set-scene.ts'
import { storeRule } from '../agent/permissions/stored-rules.ts'
import { DONE, type ExitCode, type World } from '../world.ts'
import type { Console } from './console.ts'
import { listFiles } from './host/list-files.ts'
import { openConversation, type Conversation } from './host/open-conversation.ts'
import { openLines } from './line-ui.ts'
import { openScreen } from './screen-ui.ts'
import { noteLines } from './screen/turn-lines.ts'
import { pastLines, saidBefore } from './screen/past-lines.ts'
import { proposalLines, toolLabel } from './screen/tool-lines.ts'
import { line, span } from './text/styled-line.ts'
import { talk } from './talk.ts'
import type { Ui } from './ui.ts'

// The interactive agent: one conversation after the other, until the user leaves.

export interface InteractiveOptions {
  readonly home: string
  /** The first thing to say, where the command line had it. */
  readonly prompt: string
  /** Lines alone, nothing that moves. */
  readonly isPlain: boolean
}

export async function runInteractive(
  wishes: RunWishes,
  options: InteractiveOptions,
  world: World,
  console: Console,
): Promise<ExitCode> {
  const ui = openUi(console, options, world)
  // What would go to stderr belongs above the input.
  const told: World = {
    ...world,
    printError: (text) =>
      ui.show(noteLines(text.replace(/^palimpsest: /, '').trimEnd(), 'warning', ui.columns())),
  }
  let next: RunWishes | undefined = wishes
  let isSame = false
  let prompt = options.prompt
  let last = ''
  try {
    while (next) {
      const current: RunWishes = next
      const conversation = await openConversation(
        asking(current, ui, () => conversation),
        options.home,
        told,
        (chars) => ui.setWritten(chars),
      )
      try {
        greet(conversation, { wishes: current, isSame, ui, world })
        const end = await talk(conversation, { wishes: current, prompt, ui, world: told })
        next = end?.next
        isSame = end?.isSame === true
        prompt = ''
      } finally {
        last = conversation.isKept() ? conversation.id : ''
        await conversation.close()
      }
    }
  } finally {
    ui.close()
  }
  if (last !== '') world.printError(`palimpsest: to go on: palimpsest --resume ${last}\n`)
  return DONE
}

function openUi(console: Console, { isPlain }: InteractiveOptions, { env, now }: World): Ui {
  const isDumb = env['TERM'] === undefined || env['TERM'] === 'dumb'
  if (isPlain || isDumb) return openLines(console)
  const hasColour = (env['NO_COLOR'] ?? '') === ''
  return openScreen(console, { hasColour, now })
}

/** Questions about permission go to whoever sits there; "always" is kept for later sessions too. */
function asking(wishes: RunWishes, ui: Ui, conversation: () => Conversation): RunWishes {
  return {
    ...wishes,
    user: {
      permit: async ({ tool, input, why, rule }, signal) => {
        const answer = await ui.pick(
          {
            title: `${toolLabel(tool, input)}: may it run? (${why})`,
            proposal: proposalLines(tool, input, ui.columns()),
            items: [
              { label: 'Yes, this once', letter: 'y', value: 'yes' },
              { label: toPrintable(`Always: ${rule}`), letter: 'a', value: 'always' },
              { label: 'No', letter: 'n', value: 'no' },
            ],
          },
          signal,
        )
        if (answer === 'yes') return { kind: 'yes' }
        if (answer !== 'always') return { kind: 'no' }
        // It holds for this conversation all the same.
        await storeRule(conversation().prepared.opened.project.folder, wishes.cwd, rule).catch(
          (error: unknown) => {
            ui.show(noteLines(`the rule could not be kept: ${String(error)}`, 'warning', ui.columns()))
          },
        )
        return { kind: 'always' }
      },
      compact: async ({ sizeTokens, blockingTokens }, signal) => {
        const answer = await ui.pick(
          {
            title: `The conversation holds ${Math.round(sizeTokens)} tokens: compact it now?`,
            items: [
              { label: 'Yes', letter: 'y', value: 'yes' },
              {
                label: `Not yet: at ${blockingTokens} tokens it is compacted unasked`,
                letter: 'n',
                value: 'no',
              },
            ],
          },
          signal,
        )
        return answer === 'yes'
      },
      answer: async ({ question, options }, signal) => {
        if (options.length === 0) return await ui.ask(question, signal)
        const items = options.map(({ label, description }) => ({
          label: toPrintable(description === undefined ? label : `${label}: ${description}`),
          value: label,
        }))
        const own = { label: 'in your own words', value: OWN_WORDS }
        const picked = await ui.pick({ title: question, items: [...items, own] }, signal)
        return picked === OWN_WORDS ? await ui.ask(question, signal) : picked
      },
    },
  }
}

/** What is used, and why where nobody chose it. */
function whereText(endpoint: string, { model }: RunWishes): string {
  if (endpoint !== 'offline') return `asks ${endpoint}`
  return model === undefined ? 'offline: no key, no base URL in the environment' : 'offline'
}

const OWN_WORDS = '\0own'

interface Greeting {
  readonly wishes: RunWishes
  /** The conversation was here a moment ago. */
  readonly isSame: boolean
  readonly ui: Ui
  readonly world: World
}

function greet(conversation: Conversation, { wishes, isSame, ui, world }: Greeting): void {
  const { prepared, facts, log } = conversation
  const columns = ui.columns()
  const said = saidBefore(log())
  ui.setHistory(said)
  ui.setFiles(async () => await listFiles(wishes.cwd, world))
  const notices = prepared.notices.flatMap((notice) => noteLines(notice, 'warning', columns))
  if (isSame) return notices.length > 0 ? ui.show([...notices, []]) : undefined
  ui.show([
    [
      span('palimpsest ', 'heading'),
      span(world.version, 'dim'),
      span(`  ${facts.model} (${whereText(prepared.endpoint, wishes)})`),
    ],
    line(`${toPrintable(wishes.cwd)}  ·  /help lists commands and keys`, 'dim'),
    [],
    ...pastLines(log(), columns),
    ...notices,
  ])
  if (said.length > 0) ui.show([[]])
}
