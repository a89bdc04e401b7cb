import { newestLeaf, walkChain } from '../../../transcript/chain-of.ts'
import type { Entry, EntryId } from '../../../transcript/entry.ts'
import { isBlock, toBlocks } from '../../../wire/message.ts'
import { linkEntries, linkNodes, type ChainNode } from './link.ts'
import type { RecordedBranch } from './recorded-session.ts'
import { settleBoundaries } from './settle-boundaries.ts'
import type { Tally } from './tally.ts'

// From lines that name their parents to one conversation, plus the branches beside it.

export interface Chains {
  readonly main: readonly Entry[]
  readonly branches: readonly RecordedBranch[]
  readonly sidechains: readonly RecordedBranch[]
}

export function resolveChains(nodes: readonly ChainNode[], tally: Tally): Chains {
  const links = linkNodes(nodes)
  const parents = linkEntries(nodes, links)
  const asides = new Set(nodes.filter((node) => node.aside).map((node) => node.id))
  const chain = withAsides(findMain(nodes, links, tally), nodes, parents)
  const onMain = new Set(chain.map((node) => node.id))
  const rest = nodes.filter((node) => node.entry && !onMain.has(node.id))
  const settled = (branch: RecordedBranch): RecordedBranch => ({
    from: branch.from,
    entries: settleBoundaries(branch.entries, asides),
  })
  return {
    main: settleBoundaries(chained(chain), asides),
    branches: subtrees(
      rest.filter((node) => node.sidechain === undefined),
      parents,
    ).map(settled),
    sidechains: subtrees(
      rest.filter((node) => node.sidechain !== undefined),
      parents,
    ).map(settled),
  }
}

/** The chain to the newest line. If a whole file is one sidechain, it is the conversation of that agent. */
function findMain(
  nodes: readonly ChainNode[],
  links: ReturnType<typeof linkNodes>,
  tally: Tally,
): ChainNode[] {
  const leaf = newestLeaf(links)
  if (leaf === undefined) return []
  const { places, warnings } = walkChain(links, leaf)
  const lines = new Map(nodes.map((node) => [node.id, node.line]))
  for (const { kind, entry, parent } of warnings)
    tally.note(
      lines.get(entry) ?? 0,
      kind === 'cycle'
        ? `its parent ${parent} would close a circle`
        : `its parent ${parent} is not in the file`,
    )
  return places.flatMap((place) => (nodes[place]?.entry ? [nodes[place]] : []))
}

/** What the recorded agent added after a result of a parallel call has that result as its parent, beside the chain. */
function withAsides(
  chain: readonly ChainNode[],
  nodes: readonly ChainNode[],
  parents: ReadonlyMap<EntryId, ChainNode | null>,
): ChainNode[] {
  const results = new Set(chain.filter(isResult).map((node) => node.id))
  const onChain = new Set(chain.map((node) => node.id))
  const beside = Map.groupBy(
    nodes.filter((node) => {
      const parent = parents.get(node.id)?.id ?? ''
      const belongs = node.aside === true && !onChain.has(node.id) && results.has(parent)
      // The parent of an aside may be another aside.
      if (belongs) results.add(node.id)
      return belongs
    }),
    (node) => parents.get(node.id)?.id ?? '',
  )
  const withBeside = (node: ChainNode): ChainNode[] => [
    node,
    ...(beside.get(node.id) ?? []).flatMap(withBeside),
  ]
  return chain.flatMap(withBeside)
}

function isResult({ entry }: ChainNode): boolean {
  return (
    entry?.kind === 'message' &&
    toBlocks(entry.message.content).some((block) => isBlock(block, 'tool_result'))
  )
}

function chained(chain: readonly ChainNode[]): Entry[] {
  return chain.flatMap(({ entry: recorded }, index): Entry[] => {
    if (!recorded) return []
    const { sidechain: _, ...entry } = recorded
    const previous = chain[index - 1]?.id ?? null
    return entry.kind === 'boundary'
      ? [{ ...entry, parent: null, logicalParent: previous }]
      : [{ ...entry, parent: previous }]
  })
}

/** Groups nodes into subtrees: by the agent they name, otherwise by their parents. */
function subtrees(
  nodes: readonly ChainNode[],
  parents: ReadonlyMap<EntryId, ChainNode | null>,
): RecordedBranch[] {
  const branches: { from: EntryId | null; entries: Entry[] }[] = []
  const byAgent = new Map<string, (typeof branches)[number]>()
  const byNode = new Map<EntryId, (typeof branches)[number]>()
  for (const node of nodes) {
    if (!node.entry) continue
    const parent = parents.get(node.id)?.id ?? null
    const agent = node.sidechain || undefined
    let branch = agent === undefined ? byNode.get(parent ?? '') : byAgent.get(agent)
    if (!branch) {
      branch = { from: agent === undefined ? parent : null, entries: [] }
      branches.push(branch)
    }
    if (agent !== undefined) byAgent.set(agent, branch)
    byNode.set(node.id, branch)
    branch.entries.push({ ...node.entry, parent })
  }
  return branches
}
