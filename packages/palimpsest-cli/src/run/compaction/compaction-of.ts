import { randomUUID } from 'node:crypto'

import type { ConversationCompaction } from 'palimpsest/conversation'
import { createConfirm } from 'palimpsest/loop'

import type { Planning } from '../../agent/plan/create-planning.ts'
import type { World } from '../../world.ts'
import type { ReadPolicy } from '../notes/notes-policy.ts'
import type { Scene } from '../set-scene.ts'
import { shownInstructions } from '../shown-instructions.ts'
import { createCompactionHost } from './compaction-host.ts'
import type { ReadAgainSetup } from './read-again.ts'

/** Longest plan shown again, in characters of a full-size window: about 5,000 tokens, the same as for a file. */
const PLAN_CHARS_MAX = 15_000

/** How a scene's conversation is compacted: the user's own, or an agent's with its own tools and transcript. */
export function compactionOf(
  scene: Scene,
  more: {
    readonly shown: string
    readonly noting: ReadPolicy
    /** What to say about agents that work or worked for the conversation. */
    readonly agents?: (() => string) | undefined
    /** Absent: the conversation has no plan mode of its own. */
    readonly planning?: Pick<Planning, 'again'> | undefined
    readonly report: (text: string) => void
  },
  world: World,
): ConversationCompaction {
  const { wishes, home, opened, ground, chosen, reading, hooks, shells, blobs, place } = scene
  const { shown, noting, planning, report } = more
  const planCharsMax = Math.floor(PLAN_CHARS_MAX * reading.window.scale)
  const { compaction: wanted } = ground.settings
  const ask = wanted.confirm ? wishes.user?.compact : undefined
  return {
    host: createCompactionHost({
      hooks,
      context: place,
      reading: readingOf(scene, world),
      shells,
      blobs,
      model: chosen.model,
      home,
      shown: shownInstructions(opened.session.view) ?? shown,
      keepsStart: wishes.keepsStart === true,
      agents: more.agents,
      plan: planning && (async () => await planning.again(planCharsMax)),
      report,
    }),
    isOn: reading.autoEnabled,
    transcriptPath: opened.file.path,
    // If the settings name a model for summaries, it writes them: notes are another model's text.
    notesTemplate: wanted.model === undefined ? noting.policy.template : undefined,
    wishes: wanted,
    ...(ask && { confirm: createConfirm(ask, reading.window.scale) }),
  }
}

function readingOf({ tools, permit, wishes, home }: Scene, { userHome }: World): ReadAgainSetup {
  const read = tools.find(({ name }) => name === 'Read')
  if (!read) throw new Error('unreachable: the tool Read is always there')
  return { read, permit, cwd: wishes.cwd, userHome, leftOut: [home], newId: () => randomUUID() }
}
