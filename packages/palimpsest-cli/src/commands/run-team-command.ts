import { setTimeout as sleep } from 'node:timers/promises'

import { UsageError } from 'palimpsest'
import { drive, openConversation } from 'palimpsest/conversation'
import type { LoopEvent } from 'palimpsest/loop'
import { createCostOf } from 'palimpsest/ledger'
import { loadTranscript, openHome, sessionTotals, stateOf } from 'palimpsest/node'

import { toPrintable } from '../agent/printable.ts'
import { offeredTools } from '../agent/tools/create-tools.ts'
import { createOutput, type Format } from '../print/output.ts'
import { createTally } from '../print/run-headless.ts'
import { sentenceOf } from '../report-error.ts'
import { howToCompact } from '../run/compaction/how-to-compact.ts'
import { palimpsestHome } from '../run/palimpsest-home.ts'
import { prepareRun, type PreparedRun } from '../run/prepare-run.ts'
import { textOf } from '../run/read-flags.ts'
import type { RunWishes } from '../run/set-scene.ts'
import { findSession } from '../stored/find-session.ts'
import { cleanTeams } from '../team/leading/clean-teams.ts'
import { endTeam, type EndedTeam } from '../team/leading/end-team.ts'
import { watchFolders } from '../team/folder-watch.ts'
import { leadTeam } from '../team/leading/lead.ts'
import {
  agentCount,
  findTeam,
  openTeam,
  requireLeaderless,
  requireTeam,
  sharedFlags,
  shareOf,
  stewardOf,
  teamName,
  type OpenedTeam,
} from '../team/leading/open-team.ts'
import { attendDesk, NOBODY_THERE } from '../team/permission-desk.ts'
import { LEADER, seatOf } from '../team/seat.ts'
import type { Steward } from '../team/leading/steward.ts'
import { ADDRESS_VARIABLE } from '../team/leading/start-members.ts'
import {
  membersFolder,
  NOTHING_SPENT,
  readTeam,
  teamFolder,
  type MemberSpent,
  type TeamRecord,
} from '../team/team-record.ts'
import { isWhole, reportDocument, reportLines, reportOf, spentIn } from '../team/leading/team-report.ts'
import { leaderMessage, resumedText } from '../team/team-texts.ts'
import { leaveTeam, runTeammate } from '../team/mates/teammate.ts'
import { openTeammate } from '../team/mates/teammate-setup.ts'
import type { Console } from '../tui/console.ts'
import { DONE, FAILED, type ExitCode, type World } from '../world.ts'
import type { CommandInput } from './command.ts'
import { formatOf, readWishes } from './run-agent-command.ts'

export async function runTeamCommand(input: CommandInput, world: World): Promise<ExitCode> {
  const home = await openHome(palimpsestHome(world))
  const [as, shutdown, resume] = ['as', 'shutdown', 'resume'].map((flag) => textOf(input, flag))
  if (as !== undefined) return await beTeammate(as, input, home, world)
  if (shutdown !== undefined) return await shutDown(shutdown, home, world)
  if (resume !== undefined) return await resumeTeam(resume, input, home, world)
  if (input.flags['clean'] === true) return await clean(input, home, world)
  return await startTeam(input, home, world)
}

/** Runs in a process that a leader started. */
async function beTeammate(name: string, input: CommandInput, home: string, world: World): Promise<ExitCode> {
  const { team: wanted = '' } = seatOf(textOf(input, 'team'), name) ?? {}
  const team = await requireTeam(home, wanted)
  const member = team.members.find((one) => one.name === name)
  if (!member) throw new UsageError(`there is nobody called ${JSON.stringify(name)} in the team ${team.name}`)
  const address = world.env[ADDRESS_VARIABLE] ?? team.flags['base-url']
  const flags = { ...shareOf(team.flags, team.members.length), 'base-url': address }
  const there = { ...world, cwd: member.cwd }
  const wishes = await readWishes('', { flags, words: [] }, there)
  const seat = { team: team.name, self: name, leader: LEADER, branch: member.worktree?.branch }
  const mate = await openTeammate({ home, team, member }, { ...wishes, seat }, there)
  let why = 'it was stopped'
  try {
    why = await runTeammate(mate, there)
    return DONE
  } catch (error) {
    why = sentenceOf(error)
    throw error
  } finally {
    await leaveTeam(mate, why)
    await mate.close()
  }
}

async function startTeam(input: CommandInput, home: string, world: World): Promise<ExitCode> {
  const goal = input.words[0]?.trim() ?? ''
  if (goal === '') throw new UsageError('what should the team do? palimpsest team "goal" --agents 3')
  const agents = agentCount(textOf(input, 'agents'))
  const name = await teamName(home, textOf(input, 'name'), goal)
  const flags = sharedFlags(input, world)
  const wishes = await leaderWishes(name, { ...input.flags, ...shareOf(flags, agents) }, world)
  const screen = screenOf(input, world)
  const hasWorktrees = input.flags['no-worktrees'] !== true
  const wish = { name, goal, agents, flags, hasScreen: screen !== undefined, hasWorktrees }
  const open = async (prepared: PreparedRun): Promise<Begun> => ({
    ...(await openTeam(wish, prepared, { home, cwd: wishes.cwd }, world)),
    first: { content: goal, origin: 'user' },
  })
  if (screen) return await leadOnScreen(wishes, open, { input, home, prompt: goal, screen }, world)
  return await lead(wishes, open, { input, home }, world)
}

async function resumeTeam(name: string, input: CommandInput, home: string, world: World): Promise<ExitCode> {
  const team = await requireLeaderless(home, name)
  const flags = { ...withoutMode(team.flags), ...modeAgain(team, input), ...sharedFlags(input, world) }
  const again = { ...team, flags }
  const given = { ...input.flags, ...shareOf(flags, team.members.length), resume: undefined }
  const wishes = await leaderWishes(name, given, { ...world, cwd: team.cwd })
  const session = { kind: 'stored', id: team.leaderSession } as const
  const screen = screenOf(input, world)
  const open = async (prepared: PreparedRun): Promise<Begun> => {
    const opened = await findTeam(again, prepared, { home, hasScreen: screen !== undefined }, world)
    return { ...opened, first: { content: resumedText(await opened.steward.look()), origin: 'peer' } }
  }
  const resumed = { ...wishes, session }
  if (screen) return await leadOnScreen(resumed, open, { input, home, prompt: '', screen }, world)
  return await lead(resumed, open, { input, home }, world)
}

const SKIPS = 'dangerously-skip-permissions'

function withoutMode({ 'permission-mode': _mode, [SKIPS]: _skips, ...flags }: TeamRecord['flags']) {
  return flags
}

/** The mode that the user last set, unless the command line sets another one. */
function modeAgain({ mode }: TeamRecord, { flags }: CommandInput): TeamRecord['flags'] {
  return flags[SKIPS] === true ? {} : { 'permission-mode': mode }
}

/** With -p or --output-format there is no screen. */
function screenOf({ flags }: CommandInput, { console }: World): Console | undefined {
  return flags['print'] === true || flags['output-format'] !== undefined ? undefined : console
}

/** The ordinary screen, with the team below it. */
async function leadOnScreen(
  wishes: RunWishes,
  open: (prepared: PreparedRun) => Promise<OpenedTeam>,
  at: {
    readonly input: CommandInput
    readonly home: string
    readonly prompt: string
    readonly screen: Console
  },
  world: World,
): Promise<ExitCode> {
  const { input, home, prompt, screen } = at
  const { runInteractive } = await import('../tui/run-interactive.ts')
  const { createTeamHost } = await import('../team/leading/team-host.ts')
  const options = { home, prompt, isPlain: input.flags['plain'] === true, picks: false }
  const team = createTeamHost(open, home, world)
  return await runInteractive(wishes, { ...options, team }, world, screen)
}

async function leaderWishes(name: string, flags: CommandInput['flags'], world: World): Promise<RunWishes> {
  const wishes = await readWishes('', { flags, words: [] }, world)
  return { ...wishes, seat: seatOf(name, LEADER) }
}

interface Begun extends OpenedTeam {
  readonly first: { readonly content: string; readonly origin: 'user' | 'peer' }
}

/** Without a screen, to the end of the team. */
async function lead(
  wishes: RunWishes,
  open: (prepared: PreparedRun) => Promise<Begun>,
  { input, home }: { readonly input: CommandInput; readonly home: string },
  world: World,
): Promise<ExitCode> {
  const format = formatOf(input)
  const prepared = await prepareRun(wishes, home, world)
  const say = (text: string): void => world.printError(`palimpsest: ${toPrintable(text)}\n`)
  try {
    const begun = await open(prepared)
    const { steward } = begun
    const { name, members } = steward.team()
    say(`team ${name}: ${members.map((member) => member.name).join(', ')}`)
    for (const notice of [...prepared.notices, ...begun.notices]) say(notice)
    const face = createFace(prepared, { format, cwd: wishes.cwd, name }, world)
    const ended = await leadToEnd(begun, { ...face, prepared, home, say }, world)
    return await conclude(face, { steward, ended, format }, world)
  } finally {
    await prepared.close()
  }
}

/** The conversation of the leader, and its output. */
function createFace(
  { setup, permissions, reading, agents }: PreparedRun,
  { format, cwd, name }: { readonly format: Format; readonly cwd: string; readonly name: string },
  world: World,
) {
  const { id } = setup.session
  const how = `To compact the conversation, run \`palimpsest compact --session ${id}\`, then \`palimpsest team --resume ${name}\`.`
  const compacting = howToCompact(how, reading)
  const conversation = openConversation({ ...setup, endsWithTurn: false, howToCompact: compacting })
  const { model } = setup.prefix
  const tools = offeredTools(setup.tools).map((tool) => tool.name)
  const facts = { sessionId: id, model, tools, cwd, permissionMode: permissions.mode() }
  const output = createOutput(format, facts, world)
  const tally = createTally(world.now)
  agents.onEvent(output.agent)
  output.begin()
  const told = (event: LoopEvent): void => {
    tally.take(event)
    output.event(event)
  }
  return { conversation, output, tally, told }
}

type Face = ReturnType<typeof createFace>

/** Whatever happens, the team has ended when this returns or throws. */
async function leadToEnd(
  { steward, first }: Begun,
  at: Face & {
    readonly prepared: PreparedRun
    readonly home: string
    readonly say: (text: string) => void
  },
  world: World,
): Promise<EndedTeam> {
  const { conversation, tally, told, output, prepared, home, say } = at
  const { name } = steward.team()
  const watch = watchFolders([teamFolder(home, name), membersFolder(home, name)])
  const unattended = new AbortController()
  const desk = attendDesk({ home, team: name }, { ask: NOBODY_THERE, tell: say }, unattended.signal)
  const end = async (): Promise<EndedTeam> => {
    watch.close()
    unattended.abort()
    await desk
    const ended = await endTeam(steward, world.signal.aborted, world)
    for (const { text } of ended.look.news) say(text)
    await prepared.agents.end()
    return ended
  }
  try {
    if (conversation.view().nodes.length === 0)
      await drive(conversation.add(leaderMessage(steward.team()), world.signal), told)
    const leading = { conversation, prepared, steward, watch, told, end: () => tally.result().end, say }
    await leadTeam(leading, first, world.signal)
  } catch (error) {
    await end()
    output.breakOff(tally.result(), sentenceOf(error))
    throw error
  }
  return await end()
}

async function conclude(
  { conversation, output, tally, told }: Face,
  {
    steward,
    ended,
    format,
  }: { readonly steward: Steward; readonly ended: EndedTeam; readonly format: Format },
  world: World,
): Promise<ExitCode> {
  await drive(conversation.settle(SETTLE_MS), told)
  const result = tally.result()
  const report = reportOf(steward, ended, spentIn(conversation))
  output.end({ ...result, costUsd: report.total.costUsd, team: reportDocument(report) })
  if (format === 'text') world.print(`${reportLines(report).join('\n')}\n`)
  await conversation.close(CLOSE_MS)
  return result.end.reason === 'answered' && isWhole(report) ? DONE : FAILED
}

/** How long to wait for the last costs. */
const SETTLE_MS = 2_000
const CLOSE_MS = 28_000

/** The leader ends the team; if the leader is gone, this process does. */
async function shutDown(name: string, home: string, world: World): Promise<ExitCode> {
  const team = await requireTeam(home, name)
  if (team.state === 'ended') {
    world.print(`the team ${name} has already ended\n`)
    return DONE
  }
  if ((await stateOf(team.leader)) === 'running') return await askLeader(team, home, world)
  const steward = await stewardOf(team, { home, started: new Map() }, () => team.mode, world)
  const ended = await endTeam(steward, false, world)
  for (const { text } of ended.look.news) world.print(`${toPrintable(text)}\n`)
  const report = reportOf(steward, ended, await spentByLeader(team, world))
  world.print(`${reportLines(report).join('\n')}\nthe team ${name} has ended\n`)
  return DONE
}

/** Removes what ended teams left, and says what stays. */
async function clean({ words }: CommandInput, home: string, world: World): Promise<ExitCode> {
  if (words.length > 0) throw new UsageError('--clean does not start a team: leave out the goal')
  const { removed, kept } = await cleanTeams(home, world)
  const lines = [
    ...removed.map((name) => `removed ${name}`),
    ...kept.map(({ name, why }) => `kept ${name}: ${why}`),
  ]
  world.print(`${lines.map((text) => toPrintable(text)).join('\n') || 'there are no teams'}\n`)
  return DONE
}

/** What the leader's session says it spent. Nothing if the session is missing: the rest of the report still holds. */
async function spentByLeader({ leaderSession, cwd }: TeamRecord, world: World): Promise<MemberSpent> {
  try {
    const { path } = await findSession(leaderSession, { ...world, cwd })
    const { entries } = await loadTranscript(path)
    const totals = await sessionTotals(path, createCostOf())
    return spentIn({ totals: () => totals, log: () => entries })
  } catch (error) {
    world.printError(`palimpsest: the cost of the leader is not known: ${toPrintable(sentenceOf(error))}\n`)
    return NOTHING_SPENT
  }
}

const LOOK_MS = 200

async function askLeader(team: TeamRecord, home: string, world: World): Promise<ExitCode> {
  process.kill(team.leader.pid, 'SIGTERM')
  while (!world.signal.aborted && (await stateOf(team.leader)) === 'running') await sleep(LOOK_MS)
  const isEnded = (await readTeam(home, team.name))?.state === 'ended'
  world.print(isEnded ? `the team ${team.name} has ended\n` : `the leader of ${team.name} is gone\n`)
  return isEnded ? DONE : FAILED
}
