import type { ChainLink } from './chain-link.ts'

// Some agents log one response as several lines, and the results of its parallel calls as children of those lines. A single chain of
// parents then misses most of them. Lines with the same response id belong together, and so do the results of their calls.

/** The chain, with the parts outside it inserted by their order in the file. Both lists are indexes into `links`. */
export function withParallelParts(links: readonly ChainLink[], chain: readonly number[]): readonly number[] {
  const starts = responseStarts(links, chain)
  if (starts.size === 0) return chain
  const onChain = new Set(chain)
  const side = links[chain[0] ?? -1]?.sidechain === true
  const beside = links.flatMap((link, place) =>
    onChain.has(place) || (link.sidechain === true) !== side ? [] : [{ link, place }],
  )
  const parts = beside.flatMap(({ link, place }) =>
    link.responseId !== undefined && starts.has(link.responseId)
      ? [{ place, response: link.responseId }]
      : [],
  )
  const open = openCalls(links, [...chain, ...parts.map((part) => part.place)])
  const answers = beside.flatMap(({ link, place }) => {
    const response = link.answers?.map((id) => open.get(id)).find((owner) => owner !== undefined)
    for (const id of link.answers ?? []) open.delete(id)
    return response === undefined ? [] : [{ place, response }]
  })
  const found = [...parts, ...answers].toSorted((a, b) => a.place - b.place)
  return found.length === 0 ? chain : insertParts(links, chain, found, starts)
}

interface Part {
  readonly place: number
  readonly response: string
}

/** Response id → index in `chain` of its first line. */
function responseStarts(links: readonly ChainLink[], chain: readonly number[]): ReadonlyMap<string, number> {
  const starts = new Map<string, number>()
  for (const [index, place] of chain.entries()) {
    const response = links[place]?.responseId
    if (response !== undefined && !starts.has(response)) starts.set(response, index)
  }
  return starts
}

/** Call id → response id, for calls without a result at these places. */
function openCalls(links: readonly ChainLink[], places: readonly number[]): Map<string, string> {
  const open = new Map<string, string>()
  for (const place of places) {
    const { calls = [], responseId } = links[place] ?? {}
    if (responseId !== undefined) for (const id of calls) open.set(id, responseId)
  }
  for (const place of places) for (const id of links[place]?.answers ?? []) open.delete(id)
  return open
}

/** Each part goes after the lines of its response that precede it in the file, and before the next response. */
function insertParts(
  links: readonly ChainLink[],
  chain: readonly number[],
  parts: readonly Part[],
  starts: ReadonlyMap<string, number>,
): readonly number[] {
  const before = Map.groupBy(parts, ({ place, response }) => {
    let index = (starts.get(response) ?? 0) + 1
    while (index < chain.length) {
      const next = chain[index] ?? -1
      const nextResponse = links[next]?.responseId
      if (next > place || (nextResponse !== undefined && nextResponse !== response)) break
      index++
    }
    return index
  })
  const at = (index: number): number[] => (before.get(index) ?? []).map((part) => part.place)
  return [...chain.flatMap((place, index) => [...at(index), place]), ...at(chain.length)]
}
