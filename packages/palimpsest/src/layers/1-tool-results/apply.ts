import { StorageError } from '../../errors.ts'
import type { Ports } from '../../ports.ts'
import type { JsonText } from '../../wire/json.ts'
import type { BlobRef } from '../../transcript/entry.ts'
import { gistOf } from './gist.ts'
import type { StorePlan } from './plan.ts'
import type { StoragePolicy } from './policy.ts'
import { storedStandIn, truncatedStandIn } from './stand-in.ts'

/** What became of a result: a blob and its stand-in or, if the disk is full, what could be kept of it. */
export interface StoredResult {
  readonly toolUseId: string
  readonly standIn: JsonText
  readonly blob?: BlobRef
}

/** The blob is on disk when this resolves. A full disk cuts the result and says so; it never fails the turn. */
export async function storeResult(
  { result, text }: StorePlan,
  policy: StoragePolicy,
  ports: Pick<Ports, 'blobs' | 'trace'>,
): Promise<StoredResult> {
  const toolUseId = result.tool_use_id
  const { previewBytes } = policy
  try {
    const blob = await ports.blobs.save(toolUseId, text)
    ports.trace({ name: 'result-stored', toolUseId, chars: text.length })
    return {
      toolUseId,
      blob,
      standIn: storedStandIn(result, {
        path: ports.blobs.locate(blob),
        text,
        previewBytes,
        gist: gistOf(result, text),
      }),
    }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    ports.trace({ name: 'result-cut', toolUseId, chars: text.length, reason: error.message })
    return { toolUseId, standIn: truncatedStandIn(result, { text, previewBytes, reason: error.failure }) }
  }
}
