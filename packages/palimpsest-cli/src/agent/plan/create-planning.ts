import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Restored } from 'palimpsest'
import type { MailRequest } from 'palimpsest/agents'
import { messageBody } from 'palimpsest/engine'
import type { SeenFile, View } from 'palimpsest/transcript'

import { changeFile, type FileChanges } from '../files/change-file.ts'
import { EDITED_BYTES_MAX } from '../files/file-limits.ts'
import { hashBytes } from '../files/hash-bytes.ts'
import { readIfThere } from '../files/open-regular.ts'
import type { PermissionMode } from '../permissions/permission-mode.ts'
import { Refusal } from '../refusal.ts'
import type { TrackedMode } from '../permissions/track-mode.ts'
import { isToldPlanMode, planAgainText, planModeOverText, planModeText, planStateIn } from './plan-texts.ts'

// Plan mode of one conversation: what the conversation is told about it, its plan file, and who decides about the plan.

export interface HandedPlan {
  readonly text: string
  /** The file that contains it. */
  readonly path: string
}

export type PlanAnswer =
  /** The mode in which the work continues. */
  | { readonly kind: 'yes'; readonly mode: 'default' | 'accept-edits' }
  /** `words` go to the model. */
  | { readonly kind: 'no'; readonly words?: string | undefined }

export type AskPlan = (plan: HandedPlan, signal: AbortSignal) => Promise<PlanAnswer>

export interface PlanningSetup {
  readonly sessionFolder: string
  /** View of the conversation when it is opened. */
  readonly view: View
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  /** Absent: no user can decide. */
  readonly ask?: AskPlan | undefined
  /** For a teammate without a user: asks its leader by message. Takes the id of the question. */
  readonly askLeader?: ((plan: HandedPlan, requestId: string) => Promise<void>) | undefined
  readonly afterPlan: TrackedMode['afterPlan']
}

export interface Planning extends Pick<PlanningSetup, 'mode' | 'setMode' | 'ask' | 'askLeader'> {
  /** The leader answered. Only a yes to the latest plan counts. */
  readonly answered: (answer: MailRequest) => void
  /** A new question to the leader; older ones have no effect any more. */
  readonly newRequestId: () => string
  /** The leader has the plan and has not refused it: there is nothing to do until plan mode is over. */
  readonly isHandedIn: () => boolean
  readonly path: string
  /** Messages about the mode that the conversation needs now. Empty: it knows the mode. */
  readonly news: (view: View) => readonly ReturnType<typeof messageBody>[]
  /** Writes the plan. An empty text means the content of the file. */
  readonly keep: (text: string, toolUseId: string, changes: FileChanges) => Promise<KeptPlan>
  /** What a compaction shows again of plan and mode; `charsMax` limits the plan. */
  readonly again: (charsMax: number) => Promise<readonly Restored[]>
  /** The plan that was handed in while no user was there. */
  readonly waiting: () => HandedPlan | undefined
  readonly leaveWaiting: (plan: HandedPlan) => void
}

export interface KeptPlan extends HandedPlan {
  readonly file: SeenFile
}

export const PLAN_FILE_MODE = 0o600

export function planPath(sessionFolder: string): string {
  return join(sessionFolder, 'plan.md')
}

export function createPlanning(setup: PlanningSetup): Planning {
  const { sessionFolder, mode, setMode, ask, askLeader, afterPlan, view } = setup
  let requestId: string | undefined
  let isHandedIn = false
  const path = planPath(sessionFolder)
  let seen = view
  let waiting: HandedPlan | undefined
  return {
    path,
    mode,
    setMode,
    ask,
    askLeader,
    newRequestId: () => {
      isHandedIn = true
      return (requestId = `plan-${randomUUID()}`)
    },
    isHandedIn: () => isHandedIn && mode() === 'plan',
    answered: ({ type, request_id: id, approve }) => {
      if (type !== 'plan_approval_response' || id !== requestId) return
      requestId = undefined
      isHandedIn = approve === true
      if (isHandedIn && mode() === 'plan') setMode(afterPlan())
    },
    news: (now) => {
      seen = now
      const current = mode()
      // The next time plan mode is on, another plan is due.
      if (current !== 'plan') isHandedIn = false
      if ((current === 'plan') === isToldPlanMode(now)) return []
      const text =
        current === 'plan'
          ? planModeText(path)
          : planModeOverText(current, existsSync(path) ? path : undefined)
      return [messageBody({ role: 'user', content: text }, 'engine')]
    },
    keep: async (text, toolUseId, changes) => await keepPlan(text, { path, toolUseId, changes }),
    again: async (charsMax) => {
      const isOn = mode() === 'plan'
      const told: readonly Restored[] = isOn ? [{ text: planModeText(path), origin: 'engine' }] : []
      const state = planStateIn(seen.log, path)
      const found = state === undefined ? undefined : await readIfThere(path, EDITED_BYTES_MAX)
      if (state === undefined || !found) return told
      const text = cutPlan(found.bytes.toString('utf8'), path, charsMax)
      return [{ text: planAgainText({ text, state, isOn, path }), origin: 'tool' }, ...told]
    },
    waiting: () => waiting,
    leaveWaiting: (plan) => {
      waiting = plan
    },
  }
}

interface Keeping {
  readonly path: string
  readonly toolUseId: string
  readonly changes: FileChanges
}

async function keepPlan(text: string, { path, toolUseId, changes }: Keeping): Promise<KeptPlan> {
  const found = await readIfThere(path, EDITED_BYTES_MAX)
  const old = found && { path, ...found, hash: hashBytes(found.bytes) }
  const written = old?.bytes.toString('utf8') ?? ''
  if (text.trim() === '' && written.trim() === '')
    throw new Refusal('"plan" is empty, and so is the plan file. Send the plan as Markdown.')
  if (old && (text.trim() === '' || text === written))
    return { text: written, path, file: { path, hash: old.hash, how: 'written' } }
  const change = { toolUseId, path, old, how: 'written', mode: PLAN_FILE_MODE } as const
  return { text, path, file: await changeFile(change, Buffer.from(text, 'utf8'), changes) }
}

/** Whole lines, and where to find the rest. */
function cutPlan(plan: string, path: string, charsMax: number): string {
  if (plan.length <= charsMax) return plan.trimEnd()
  const kept = plan.slice(0, Math.max(0, plan.lastIndexOf('\n', charsMax)))
  return `${kept}\n[The plan continues for ${plan.length - kept.length} characters more. Read ${path} before you carry it out.]`
}
