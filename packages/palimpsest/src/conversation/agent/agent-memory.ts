import { proposeMemory, type FindSecrets, type MemoryOutcome } from '../../layers/5-memory/change-memory.ts'
import { evidenceOf } from '../../layers/5-memory/evidence.ts'
import type { ExtractionHost } from '../../layers/5-memory/extraction/extraction-keeper.ts'
import type { Proposal } from '../../layers/5-memory/judge-proposal.ts'
import { MEMORY_MODE_DEFAULT, type MemoryMode } from '../../layers/5-memory/policy.ts'
import { renderIndex } from '../../layers/5-memory/render-index.ts'
import type { MemoryFolder, Ports } from '../../ports.ts'
import { messageBody } from '../../situation/session.ts'
import type { View } from '../../transcript/view.ts'
import type { ConversationSetup } from '../conversation-setup.ts'

// Long-term memory for an agent of the library: its conversations begin with the index, and a fork saves what will matter later. The tools
// are the caller's, so the fork answers with the memories instead of writing them.

export interface AgentMemory {
  /** From `createMemoryFolder` of `palimpsest/node`. */
  readonly folder: MemoryFolder
  /** Finds what a text must not store, by kind. `async () => []` lets everything through. */
  readonly findSecrets: FindSecrets
  /** What may happen without a question. Absent: `read-write`. */
  readonly mode?: MemoryMode | undefined
  /** Whether a model looks through each finished turn for what will matter later. Absent: yes. */
  readonly extract?: boolean | undefined
  /** Called with the outcome of each proposal. */
  readonly onMemory?: ((outcome: MemoryOutcome, proposal: Proposal) => void) | undefined
}

/** What a new conversation begins with. */
export async function openingWith(
  { folder, mode }: AgentMemory,
  { clock, flags }: Pick<Ports, 'clock' | 'flags'>,
): Promise<ConversationSetup['opening']['first']> {
  if (mode === 'off' || !flags.value('memory-index')) return []
  const shown = { title: 'of earlier conversations', path: folder.path, files: await folder.read(), share: 1 }
  const text = renderIndex([shown], clock.now(), { hasTools: false })
  return text === '' ? [] : [messageBody({ role: 'user', content: text }, 'memory')]
}

const REASON = 'saved after a turn'
const NO_TOOLS = 'No tool works beside the conversation. Answer with the memories.'

/** In a stored conversation only what is new counts. */
export function extractionFor(
  memory: AgentMemory,
  { id: session, view: begin }: { readonly id: string; readonly view: View },
  { clock, newId }: Pick<Ports, 'clock' | 'newId'>,
): ExtractionHost | undefined {
  const { folder, findSecrets, mode = MEMORY_MODE_DEFAULT, extract = true, onMemory } = memory
  if (!extract) return undefined
  let mark = begin.log.reduce((newest, { at }) => (at > newest ? at : newest), -Infinity)
  const memoryPorts = { folder, clock, newId, findSecrets }
  return {
    mode,
    folders: [{ title: 'for later conversations', folder }],
    hasTools: false,
    written: () => 0,
    mark: () => mark,
    saveMark: async (at) => {
      mark = at
    },
    open: ({ view, mark: before }) => ({
      runCalls: async (calls) => calls.map(() => ({ content: NO_TOOLS, isError: true })),
      propose: async (proposal) => {
        const since = evidenceOf(view.log.filter(({ at }) => at <= before)).length
        const situation = { session, evidence: evidenceOf(view.log), since, mode }
        const outcome = await proposeMemory(
          proposal,
          situation,
          { by: 'extract', reason: REASON },
          memoryPorts,
        )
        onMemory?.(outcome, proposal)
      },
    }),
  }
}
