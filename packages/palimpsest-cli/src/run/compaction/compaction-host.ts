import type { CompactionHost, Restored, RestoreWish } from 'palimpsest'
import type { BlobStore } from 'palimpsest/node'

import { sentenceOf } from '../../report-error.ts'
import type { Hooks } from '../../agent/hooks/create-hooks.ts'
import { compactSections } from '../../agent/instructions/compact-section.ts'
import type { Instructions } from '../../agent/instructions/load-instructions.ts'
import { renderContextAgain, renderInstructions } from '../../agent/instructions/render-context.ts'
import { renderTypes } from '../../agents/kinds/show-types.ts'
import type { Shells } from '../../agent/shell/shells.ts'
import type { PlaceContext } from '../place-context.ts'
import { readAgain, type ReadAgainSetup } from './read-again.ts'
import { HOOK_CHARS_MAX, runSessionStart, tellInstructions } from '../session-hooks.ts'

// What the command adds to a compaction: hooks before and after it, and content that only the command can read. Nothing here can make a
// compaction fail; each problem becomes a line for the user.

export interface HostSetup {
  readonly hooks: Hooks
  readonly context: PlaceContext
  readonly reading: ReadAgainSetup
  readonly shells: Pick<Shells, 'ids' | 'find'>
  /** What to say about agents that work or worked for the conversation; empty for none. */
  readonly agents?: (() => string) | undefined
  /** What to show again about the plan and plan mode. */
  readonly plan?: (() => Promise<readonly Restored[]>) | undefined
  readonly blobs: BlobStore
  readonly model: string
  readonly home: string
  /** The instruction files as the conversation last showed them; undefined if unknown. */
  readonly shown: string | undefined
  /** The start of the conversation stays in view; it is shown again only if it changed. */
  readonly keepsStart?: boolean
  readonly report: (text: string) => void
}

export function createCompactionHost(setup: HostSetup): CompactionHost {
  const { hooks, report } = setup
  let { shown } = setup
  return {
    before: async ({ trigger, instructions }, signal) => {
      const input = { trigger, custom_instructions: instructions }
      const answers = await hooks.run({ event: 'PreCompact', value: trigger, input }, signal)
      const sections = compactSections(await loadQuietly(setup))
      const added = [sections, ...answers.map(({ text }) => text?.slice(0, HOOK_CHARS_MAX))].filter(Boolean)
      const block = answers.find(({ objection }) => objection !== undefined)?.objection
      return {
        block,
        instructions: added.length > 0 ? added.join('\n\n') : undefined,
        notices: answers.flatMap(({ notice }) => notice ?? []),
      }
    },
    again: async () => {
      const instructions = await loadQuietly(setup)
      const changed = shown !== undefined && shown !== renderInstructions(instructions)
      const plan = await planOf(setup)
      const context = setup.keepsStart && !changed ? [] : await contextAgain(instructions, changed, setup)
      return [...context, ...plan].map(({ text }) => text).join('\n')
    },
    restore: async (wish, signal) => {
      const instructions = await loadQuietly(setup)
      const text = renderInstructions(instructions)
      const changed = shown !== undefined && shown !== text
      const isMissing = !setup.keepsStart || changed
      const context = isMissing ? await contextAgain(instructions, changed, setup) : []
      shown = text
      tellInstructions(instructions.files, 'compact', setup)
      const started = await startAgain(setup, signal)
      return [
        ...context,
        ...(await filesAgain(wish, instructions, setup, signal)),
        ...(await planOf(setup)),
        ...workOf(wish, setup.shells),
        ...agentsOf(setup),
        ...started,
      ]
    },
    after: async ({ trigger, summary }, signal) => {
      const input = { trigger, compact_summary: summary }
      const answers = await hooks.run({ event: 'PostCompact', value: trigger, input }, signal)
      for (const { notice, objection } of answers) if (notice ?? objection) report(notice ?? objection ?? '')
    },
  }
}

/** Files that vanish or change meanwhile do not stop a compaction. */
async function loadQuietly({ context, report }: HostSetup): Promise<Instructions> {
  try {
    return await context.instructions()
  } catch (error) {
    report(`the instruction files could not be read again: ${sentenceOf(error)}`)
    return { files: [], notices: [] }
  }
}

async function contextAgain(
  instructions: Instructions,
  changed: boolean,
  { context }: HostSetup,
): Promise<readonly Restored[]> {
  const environment = await context.environment()
  const memory = await context.memory()
  const types = renderTypes((await context.agents()).types)
  const text = [renderContextAgain(instructions, environment, changed), types].filter(Boolean).join('\n\n')
  return [{ text, origin: 'engine' }, ...(memory === '' ? [] : [{ text: memory, origin: 'memory' } as const])]
}

async function filesAgain(
  wish: RestoreWish,
  { files }: Instructions,
  { reading }: HostSetup,
  signal: AbortSignal,
): Promise<readonly Restored[]> {
  const shown = new Set(files.map(({ path }) => path))
  const again = await readAgain(wish, reading, shown, signal)
  return again.map(({ path, text, seen }) => ({
    text: `The file ${path}, read again when the conversation was compacted:\n\n${text}`,
    origin: 'tool',
    files: seen,
  }))
}

/** Shells that still run, unless the summary already names them, and shells that ended. */
function workOf({ said }: RestoreWish, shells: HostSetup['shells']): readonly Restored[] {
  const lines = shells.ids().flatMap((id) => {
    const shell = shells.find(id)
    if (!shell) return []
    const end = shell.end()
    if (!end) return said.includes(id) ? [] : [`- ${id} is running: ${shell.command}`]
    return end.kind === 'exited' ? [`- ${id} ended with exit code ${end.code}: ${shell.command}`] : []
  })
  if (lines.length === 0) return []
  const text = `Shells in the background (TaskOutput reads what they print):\n${lines.join('\n')}`
  return [{ text, origin: 'engine' }]
}

/** A plan that cannot be read now is still in its file. */
async function planOf({ plan, report }: HostSetup): Promise<readonly Restored[]> {
  try {
    return (await plan?.()) ?? []
  } catch (error) {
    report(`the plan could not be read again: ${sentenceOf(error)}`)
    return []
  }
}

function agentsOf({ agents }: HostSetup): readonly Restored[] {
  const text = agents?.() ?? ''
  return text === '' ? [] : [{ text, origin: 'engine' }]
}

async function startAgain(setup: HostSetup, signal: AbortSignal): Promise<readonly Restored[]> {
  const about = { source: 'compact', model: setup.model } as const
  const { newId } = setup.reading
  const { texts, notices } = await runSessionStart(about, { ...setup, newId }, signal)
  for (const notice of notices) setup.report(notice)
  return texts.map((text) => ({ text, origin: 'hook' }))
}
