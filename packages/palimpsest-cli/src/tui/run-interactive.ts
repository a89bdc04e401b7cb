import { basename } from 'node:path'

import { sentenceOf } from '../report-error.ts'
import { toPrintable } from '../agent/printable.ts'
import type { AskTrust, TrustMatter } from '../agent/settings/trust.ts'
import type { RunWishes } from '../run/set-scene.ts'
import type { Offer } from '../agent/permissions/always/offer.ts'
import { storeRules } from '../agent/permissions/always/stored-rules.ts'
import type { TeamFace, TeamHost } from '../team/leading/team-host.ts'
import { DONE, type ExitCode, type World } from '../world.ts'
import type { Console } from './console.ts'
import { readEarlierInputs } from './host/earlier-inputs.ts'
import { askFirstModel } from './host/first-model.ts'
import { listFiles } from './host/list-files.ts'
import { shownPath } from './host/shown-path.ts'
import { hostConversation, type HostedConversation } from './host/host-conversation.ts'
import type { PickItem } from './input/pick-item.ts'
import { openLines } from './line-ui.ts'
import { openScreen } from './screen-ui.ts'
import { noteLines } from './screen/turn-lines.ts'
import { pastLines, saidBefore } from './screen/past-lines.ts'
import { proposalLines, toolLabel } from './screen/tool-lines.ts'
import { line, span, wrapLine, type StyledLine } from './text/styled-line.ts'
import { askPlan } from './host/ask-plan.ts'
import { talk } from './talk.ts'
import type { Ui } from './ui.ts'

// The interactive agent: one conversation after another, until the user leaves.

export interface InteractiveOptions {
  readonly home: string
  /** The first message, if the command line had one. */
  readonly prompt: string
  /** Begins with the list of sessions. */
  readonly picks: boolean
  /** Only lines, nothing that moves. */
  readonly isPlain: boolean
  /** The team that the conversation leads. */
  readonly team?: TeamHost | undefined
}

export async function runInteractive(
  wishes: RunWishes,
  options: InteractiveOptions,
  world: World,
  console: Console,
): Promise<ExitCode> {
  const ui = openUi(console, { ...options, title: basename(wishes.cwd) }, world)
  // Text for stderr belongs above the input.
  const told: World = {
    ...world,
    printError: (text) => {
      const said = text.replace(/^palimpsest: /, '').trimEnd()
      ui.show(noteLines(said, WENT_WELL.test(said) ? 'plain' : 'warning', ui.columns()))
    },
  }
  const trust = rememberedTrust(ui)
  const place: Place = { ui, world, told, home: options.home, trust, noted: new Set() }
  let last = ''
  try {
    const first = await askFirstModel(wishes, place)
    let at: Entered | undefined = await enter(first, undefined, { ...place, isQuiet: options.picks })
    let { prompt, picks } = options
    while (at) {
      const { conversation, wishes: current }: Entered = at
      try {
        await options.team?.begin(conversation, conversation.prepared, teamFace(place, at.ask))
        const begin = (): void => greet(conversation, { ...place, wishes: current, knows: 'nothing' })
        const end = await talk(conversation, {
          wishes: current,
          prompt,
          picks,
          begin,
          ui,
          world: told,
          team: options.team,
        })
        // If the user picks a session first, the prompt goes there.
        prompt = picks && end?.next ? prompt : ''
        picks = false
        last = conversation.isKept() ? conversation.id : ''
        await conversation.close()
        // What may happen unasked was the user's decision, so the next conversation keeps it.
        at = end?.next && (await enter(withMode(end.next, conversation), at, place))
      } finally {
        await conversation.close()
      }
    }
  } finally {
    await options.team?.end()
    ui.close()
  }
  if (last !== '') world.printError(`palimpsest: to resume: palimpsest --resume ${last}\n`)
  return DONE
}

/** Memories written beside a turn are reported on stderr too, but are no warning. */
const WENT_WELL = /^memory: (?!not )/

function withMode(wishes: RunWishes, { prepared }: HostedConversation): RunWishes {
  return { ...wishes, mode: prepared.permissions.mode() }
}

interface Place {
  readonly ui: Ui
  readonly world: World
  /** The same, but text for stderr appears above the input. */
  readonly told: World
  readonly home: string
  readonly trust: AskTrust
  /** Notices about settings, model and place that were already shown. */
  readonly noted: Set<string>
}

interface Entered {
  readonly conversation: HostedConversation
  readonly wishes: RunWishes
  /** Asks for permission, as for the conversation's own calls. */
  readonly ask: TeamFace['ask']
}

function teamFace({ ui }: Place, ask: TeamFace['ask']): TeamFace {
  return {
    ask,
    show: (text) => ui.show(noteLines(text, 'plain', ui.columns())),
    changed: () => ui.setLive({}),
  }
}

/** Opens the wanted conversation. If that fails, opens the previous one again and shows why. */
async function enter(
  wishes: RunWishes,
  before: Entered | undefined,
  place: Place & { readonly isQuiet?: boolean },
): Promise<Entered> {
  const { ui, told, home, trust, isQuiet = false } = place
  const open = async (wanted: RunWishes): Promise<Entered> => {
    const asked = asking(wanted, ui, trust, () => conversation)
    const conversation = await hostConversation(asked, home, told, {
      onSummary: (chars) => ui.setWritten(chars),
      onWork: (since) => ui.setLive({ since }),
    })
    return { conversation, wishes: wanted, ask: asked.user.permit }
  }
  try {
    const entered = await open(wishes)
    if (wishes.chosen) entered.conversation.keepChoices()
    if (!isQuiet) greet(entered.conversation, { ...place, wishes, knows: knownOf(entered, before) })
    return entered
  } catch (error) {
    if (!before) throw error
    ui.show([...noteLines(sentenceOf(error), 'error', ui.columns()), []])
    const { conversation } = before
    const session = conversation.isKept()
      ? ({ kind: 'resume', which: conversation.id } as const)
      : ({ kind: 'new' } as const)
    const again = await open({ ...before.wishes, session })
    greet(again.conversation, { ...place, wishes: again.wishes, knows: 'all' })
    return again
  }
}

/** A conversation that continues with another model is on the screen already. */
function knownOf({ conversation, wishes }: Entered, before: Entered | undefined): Greeting['knows'] {
  if (!before || !wishes.chosen) return 'nothing'
  const isSame = before.conversation.id === conversation.id
  return isSame || !before.conversation.isKept() ? 'conversation' : 'nothing'
}

/** Asks once: a user who said no is not asked again until the next start. */
function rememberedTrust(ui: Ui): AskTrust {
  let refused = false
  return async (matters) => {
    if (refused) return false
    const answer = await ui.pick({
      title: 'Do you trust this folder? Its settings would take effect:',
      proposal: matters.flatMap((matter) => matterLines(matter, ui.columns())),
      items: [
        { label: 'Yes, use them from now on', letter: 'y', value: 'yes' },
        { label: 'No, continue without them', letter: 'n', value: 'no' },
      ],
    })
    refused = answer !== 'yes'
    return !refused
  }
}

/** Wrapped, not cut: no one should trust what they cannot see. */
function matterLines({ path, says }: TrustMatter, columns: number): readonly StyledLine[] {
  const hang = line('      ')
  return [
    ...wrapLine([span(`  ${toPrintable(path)}`, 'dim')], columns, hang),
    ...says.flatMap((text) => wrapLine([span(`    ${toPrintable(text)}`)], columns, hang)),
  ]
}

function openUi(
  console: Console,
  { isPlain, title }: InteractiveOptions & { readonly title: string },
  { env, now, signal }: World,
): Ui {
  const isDumb = env['TERM'] === undefined || env['TERM'] === 'dumb'
  if (isPlain || isDumb) return openLines(console, signal)
  const hasColour = (env['NO_COLOR'] ?? '') === ''
  return openScreen(console, { hasColour, now, signal, title })
}

/** Questions for permission go to the user; "always" is stored for later sessions too. */
function asking(
  wishes: RunWishes,
  ui: Ui,
  trust: AskTrust,
  conversation: () => HostedConversation,
): RunWishes & { readonly user: NonNullable<RunWishes['user']> } {
  return {
    ...wishes,
    user: {
      trust,
      permit: async ({ tool, input, why, offer }, signal) => {
        const answer = await ui.pick(
          {
            title: `Allow ${toolLabel(tool, input)}? (${why})`,
            proposal: proposalLines(tool, input, ui.columns()),
            items: [
              { label: 'Yes, this once', letter: 'y', value: 'yes' },
              ...(offer ? [alwaysItem(offer)] : []),
              { label: 'No', letter: 'n', value: 'no' },
              { label: 'No, and tell it what to do instead', letter: 't', value: 'tell' },
            ],
          },
          signal,
        )
        if (answer === 'yes') return { kind: 'yes' }
        if (answer === 'tell') {
          const words = await ui.ask('What should it do instead?', signal)
          return words ? { kind: 'no', words } : { kind: 'no' }
        }
        if (answer !== 'always' || !offer) return { kind: 'no' }
        // The rule still holds for this conversation.
        await storeRules(conversation().prepared.opened.project.folder, wishes.cwd, offer.rules).catch(
          (error: unknown) => {
            ui.show(noteLines(`the rule could not be saved: ${sentenceOf(error)}`, 'warning', ui.columns()))
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
                label: `Not yet: at ${blockingTokens} tokens it is compacted without asking`,
                letter: 'n',
                value: 'no',
              },
            ],
          },
          signal,
        )
        return answer === 'yes'
      },
      plan: async (plan, signal) => await askPlan(plan, ui, signal),
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

const OWN_WORDS = '\0own'

/** The words first, then the rule as it is stored. */
function alwaysItem({ words, except, rules }: Offer): PickItem {
  const kept = rules.map(({ text }) => text).join(', ')
  const detail = except === undefined ? kept : `${kept} · ${except}`
  return { label: toPrintable(words), detail: toPrintable(detail), letter: 'a', value: 'always' }
}

/** Runs in the background: a server on this machine needs no key, the user only has to choose it. */
async function tellLocalModels({ prepared }: HostedConversation, ui: Ui, world: World): Promise<void> {
  if (prepared.endpoint !== 'offline') return
  const { findLocalModels } = await import('../run/models/offered-models.ts')
  const [first, ...more] = await findLocalModels(world.env, world.signal)
  if (!first) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  ui.show([
    ...noteLines(
      `this machine has ${toPrintable(first.name)}${others}: choose one with /model`,
      'plain',
      ui.columns(),
    ),
    [],
  ])
}

interface Greeting extends Pick<Place, 'ui' | 'world' | 'noted'> {
  readonly wishes: RunWishes
  /** What the user sees already: the same conversation, perhaps with another model now, or all of it. */
  readonly knows: 'nothing' | 'conversation' | 'all'
}

/** Files that speak to the model from the start: the place to look if the model does something unexpected. */
function instructionLine(
  paths: readonly string[],
  cwd: string,
  { userHome }: Pick<World, 'userHome'>,
): readonly StyledLine[] {
  if (paths.length === 0) return []
  const names = paths.map((path) => shownPath(path, cwd, userHome))
  return [line(`instructions: ${toPrintable(names.join(', '))}`, 'dim')]
}

function greet(conversation: HostedConversation, { wishes, knows, ui, world, noted }: Greeting): void {
  const { prepared, facts, log } = conversation
  const columns = ui.columns()
  ui.setHistory(saidBefore(log()))
  const { project, file } = prepared.opened
  void readEarlierInputs(project.folder, file.path).then(ui.addHistory)
  if (knows === 'nothing') void tellLocalModels(conversation, ui, world)
  ui.setFiles(async () => await listFiles(wishes.cwd, world))
  const fresh = prepared.notices.filter((notice) => !noted.has(notice))
  for (const notice of fresh) noted.add(notice)
  const notices = fresh.flatMap((notice) => noteLines(notice, 'warning', columns))
  const start = (): readonly StyledLine[] => [
    [span('palimpsest ', 'heading'), span(world.version, 'dim'), span(`  ${facts.model}`)],
    line(toPrintable(prepared.about), 'dim'),
    line(`${toPrintable(wishes.cwd)} · /help lists commands and keys`, 'dim'),
    ...instructionLine(prepared.instructionPaths, wishes.cwd, world),
    [],
    ...pastLines(log(), { columns, rows: ui.rows() }, ui.ways.toAll),
  ]
  const changed = (): readonly StyledLine[] => [
    ...noteLines(`the model is ${facts.model} (${toPrintable(prepared.about)})`, 'plain', columns),
    [],
  ]
  const said = knows === 'nothing' ? start() : knows === 'conversation' ? changed() : []
  const lines = [...said, ...notices, ...(notices.length > 0 ? [[]] : [])]
  if (lines.length > 0) ui.show(lines)
}
