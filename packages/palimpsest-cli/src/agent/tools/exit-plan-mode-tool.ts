import type { LoopTool, ToolOutput } from 'palimpsest/loop'

import type { FileChanges } from '../files/change-file.ts'
import type { KeptPlan, Planning } from '../plan/create-planning.ts'
import { APPROVED } from '../plan/plan-texts.ts'
import { Refusal } from '../refusal.ts'
import { defineTool } from './define-tool.ts'
import { optionalText } from './tool-input.ts'

// Always in the list, whatever the mode: a tool that came and went with the mode would change the prefix.

const DESCRIPTION = `Hands the complete plan to the user, who approves it or says what to change. Only in plan mode, which you are told about; anywhere else it is refused.

- plan is Markdown: what changes in which file, in which order, and how it is checked.
- When it is approved, plan mode is over: carry the plan out. Otherwise change it and hand it in again.`

/** Without `planning`, the tool belongs to an agent or is outside a conversation. */
export function createExitPlanModeTool(planning: Planning | undefined, changes: FileChanges): LoopTool {
  return defineTool<string>({
    name: 'ExitPlanMode',
    description: DESCRIPTION,
    properties: { plan: { type: 'string', description: 'The whole plan' } },
    required: ['plan'],
    parse: (input) => optionalText(input, 'plan') ?? '',
    isReadOnly: false,
    run: async (text, { toolUseId, signal }) => {
      if (planning === undefined)
        throw new Refusal(
          'Only the conversation of the user leaves plan mode. Put the plan into your report.',
        )
      if (planning.mode() !== 'plan')
        throw new Refusal(
          'This is not plan mode: there is nothing to leave, and nobody is asked. Do the work, or answer.',
        )
      return await decide(await planning.keep(text, toolUseId, changes), planning, signal)
    },
  })
}

const SENT_TO_LEADER =
  'The plan is sent to the leader of your team, who approves it or says what to change, by a message. It is plan mode until you are told that it is over. Say in one sentence what you wait for, and end your turn.'

async function decide(plan: KeptPlan, planning: Planning, signal: AbortSignal): Promise<ToolOutput> {
  const files = [plan.file]
  if (planning.ask === undefined && planning.askLeader) {
    await planning.askLeader(plan, planning.newRequestId())
    return { content: SENT_TO_LEADER, files }
  }
  if (planning.ask === undefined) {
    planning.leaveWaiting({ text: plan.text, path: plan.path })
    return {
      content:
        'The plan is handed in. Nobody is there to approve it, so the run ends with it: the plan is its result. Call no more tools, and do not repeat the plan. Say in one sentence what the user should know beside it.',
      files,
    }
  }
  const answer = await planning.ask({ text: plan.text, path: plan.path }, signal)
  if (answer.kind === 'yes') {
    planning.setMode(answer.mode)
    return { content: `${APPROVED} It is in ${plan.path}. Carry it out.`, files }
  }
  if (answer.words === undefined || answer.words.trim() === '')
    return {
      content:
        'The user did not approve the plan, and did not say why. It is still plan mode. Ask what should be different, or stop here.',
      files,
    }
  return { content: `The plan is not approved yet: ${answer.words}`, origin: 'user', files }
}
