import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { isJsonObject, type Json } from 'palimpsest/wire'
import { readPlainText } from 'palimpsest/node'

import { placeOwnFile } from '../agent/files/place-own-file.ts'
import { PAYLOAD_BYTES_MAX, toPayload, type Payload } from './read-payload.ts'

// The newest good payload of the service, on disk. It counts from the start, before the service is asked.

export interface LastKnown {
  /** A payload from another address is not used. */
  readonly url: string
  readonly payload: Payload
  readonly fetchedAt: number
  readonly etag?: string | undefined
}

const NAME = 'flags-last-known.json'
/** Room for the payload, printed again, and the fields around it. */
const FILE_BYTES_MAX = 2 * PAYLOAD_BYTES_MAX

/** Undefined if there is none for this address. Throws if the file is damaged. */
export async function readLastKnown(home: string, url: string): Promise<LastKnown | undefined> {
  const path = join(home, NAME)
  const found = await stat(path).catch(() => undefined)
  if (!found) return undefined
  if (!found.isFile() || found.size > FILE_BYTES_MAX) throw new Error(`${path} is not a file of Palimpsest`)
  const value: unknown = JSON.parse(await readPlainText(path))
  if (!isJsonObject(value) || typeof value['fetchedAt'] !== 'string')
    throw new Error(`${path} is not a file of Palimpsest`)
  if (value['url'] !== url) return undefined
  const { etag, fetchedAt } = value
  const { payload } = toPayload(value['payload'] ?? null, undefined)
  if (!payload) throw new Error(`${path} contains no payload`)
  const at = Date.parse(fetchedAt)
  return { url, payload, fetchedAt: at, etag: typeof etag === 'string' ? etag : undefined }
}

export async function saveLastKnown(home: string, known: LastKnown): Promise<void> {
  const path = join(await realpath(home), NAME)
  const document: Json = {
    url: known.url,
    fetchedAt: new Date(known.fetchedAt).toISOString(),
    ...(known.etag === undefined ? {} : { etag: known.etag }),
    payload: { features: known.payload.features, savedGroups: known.payload.savedGroups },
  }
  await placeOwnFile(path, Buffer.from(`${JSON.stringify(document)}\n`))
}
