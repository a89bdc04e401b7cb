import { dirname, join } from 'node:path'

import { memoryStore } from 'palimpsest'
import { drive, openConversation, type ConversationSetup } from 'palimpsest/conversation'
import {
  DREAM_MS_MAX,
  dreamPrompt,
  type DreamCopy,
  type DreamPolicy,
  type DreamScene,
  type Thought,
} from 'palimpsest/dreaming'
import { createCostOf } from 'palimpsest/ledger'
import { createBudget, meterModel, whyNotAnswered, type LoopEvent, type TurnEnd } from 'palimpsest/loop'
import { emptyView } from 'palimpsest/transcript'

import { createAccess } from '../agent/paths/access.ts'
import { createPermit } from '../agent/permissions/create-permit.ts'
import type { Rule } from '../agent/permissions/rule.ts'
import { commandEnvironment, type Environment } from '../agent/process/child-environment.ts'
import { createSandbox } from '../agent/sandbox/create-sandbox.ts'
import type { SandboxPolicy } from '../agent/sandbox/sandbox.ts'
import { createShells } from '../agent/shell/shells.ts'
import { createTools } from '../agent/tools/create-tools.ts'
import { redirectPermit, redirectTool, searchTranscripts } from './redirect.ts'

// The agent that consolidates memories: a separate conversation with the system prompt and tools of its session, and nothing of what was
// said there. It reads what a session reads unasked, and transcripts and logs; it writes only in its copy.

/** What it gets from the session. */
export interface DreamBase extends Pick<ConversationSetup, 'ports' | 'prefix' | 'reading' | 'maxTokens'> {
  readonly cwd: string
  readonly home: string
  readonly userHome: string
  readonly projectFolder: string
  readonly platform: string
  readonly env: Environment
  readonly sandbox: SandboxPolicy
  /** Rules that forbid or ask apply; rules that allow do not. */
  readonly rules: readonly Rule[]
  readonly isTrusted: boolean
}

export interface DreamRun {
  readonly policy: Pick<DreamPolicy, 'maxRequests' | 'maxCostUsd'>
  readonly scene: DreamScene
  readonly see: (event: LoopEvent) => void
}

export async function thinkInDream(
  base: DreamBase,
  copy: DreamCopy,
  { policy, scene, see }: DreamRun,
  signal: AbortSignal,
): Promise<Thought> {
  const { tools, permit, shells } = await toolsFor(base, copy, scene)
  const stored = await memoryStore().open(undefined, createCostOf())
  const { clock } = base.ports
  const deadline = new AbortController()
  const metered = meterModel(base.ports.streamModel)
  const budget = createBudget(metered.streamModel, { maxUsd: policy.maxCostUsd, spentUsd: 0 })
  const conversation = openConversation({
    ...base,
    session: { id: stored.id, view: emptyView() },
    ports: {
      ...base.ports,
      streamModel: budget.streamModel,
      transcript: stored,
      blobs: stored.blobs,
    },
    history: stored.history,
    totals: stored.totals,
    opening: { first: [], always: [] },
    tools,
    permit,
    source: 'dream',
    roundsMax: policy.maxRequests,
    spending: { metered, maxUsd: policy.maxCostUsd, leftUsd: budget.leftUsd },
    endsWithTurn: true,
    signal,
  })
  const until = clock.now() + DREAM_MS_MAX
  // Checks the clock instead of setting one long timer, so that a suspended machine also notices that the time is up. The model may never
  // send anything.
  const looks = setInterval(() => clock.now() > until && deadline.abort(), LOOK_EVERY_MS)
  let end: TurnEnd = { reason: 'aborted' }
  let requests = 0
  try {
    await drive(
      conversation.send({ content: dreamPrompt(scene) }, AbortSignal.any([signal, deadline.signal])),
      (event) => {
        see(event)
        if (event.type === 'request-start') requests++
        if (event.type === 'turn-end') end = event.end
      },
    )
  } finally {
    clearInterval(looks)
    conversation.stop()
    await shells.killAll()
  }
  const failed = deadline.signal.aborted
    ? `it took over ${DREAM_MS_MAX / 60_000} minutes`
    : whyFailed(end, policy)
  return { requests, costUsd: stored.totals().costUsd, failed }
}

/** How late it may notice that its time is up, in milliseconds. */
const LOOK_EVERY_MS = 1_000

function whyFailed(end: TurnEnd, { maxRequests, maxCostUsd }: DreamRun['policy']): string | undefined {
  return whyNotAnswered(end, {
    rounds: `${maxRequests} requests (setting dream.maxRequests)`,
    cost: `$${maxCostUsd} (setting dream.maxCostUsd)`,
  })
}

async function toolsFor(base: DreamBase, copy: DreamCopy, scene: DreamRun['scene']) {
  const { cwd, home, userHome, env, projectFolder, platform } = base
  const access = await createAccess({
    cwd,
    home: userHome,
    readableFolders: [copy.path, projectFolder, scene.logsPath],
    isJudged: (path) => dirname(path) === copy.path && path.endsWith('.md'),
    ownHome: home,
    rules: base.rules.filter(({ effect }) => effect !== 'allow'),
  })
  const machine = { platform, architecture: process.arch }
  const sandbox = createSandbox({ policy: base.sandbox, access, env, machine })
  const shells = createShells()
  const sessionFolder = join(dirname(copy.path), 'session')
  const tools = createTools({ access, sandbox, sessionFolder, shells, env, now: base.ports.clock.now })
  const permit = createPermit({
    access,
    mode: 'default',
    isTrusted: base.isTrusted,
    sandbox,
    env: commandEnvironment(env, access.cwd),
    protectedFolders: [home],
    ask: async () => ({ kind: 'no' }),
  })
  const folders = { from: scene.memoryPath, to: copy.path }
  return {
    tools: tools.map((tool) => redirectTool(tool, folders)),
    permit: searchTranscripts(redirectPermit(permit, folders), scene.transcriptsPath),
    shells,
  }
}
