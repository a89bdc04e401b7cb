import type { Readable } from 'node:stream'

/** How long a pipe may stay silent before a run that has its prompt already goes on without it. */
const FIRST_BYTE_MS_MAX = 3_000
/** More is no prompt; it belongs into a file. */
export const INPUT_BYTES_MAX = 10 * 1024 * 1024

export type Input =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  /** Something is connected, and nothing came. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'too-long' }

/**
 * What stands on stdin. A terminal gives nothing. With `required`, the end is waited for however long it takes; without, a pipe that
 * stays silent is left alone: many programs hand their children a pipe that never ends.
 */
export async function readInput(
  stdin: Readable & { readonly isTTY?: boolean; readonly unref?: () => void },
  required: boolean,
): Promise<Input> {
  if (stdin.isTTY) return { kind: 'none' }
  const chunks: Buffer[] = []
  let bytes = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<Input>((resolve, reject) => {
      if (!required) timer = setTimeout(() => resolve({ kind: 'silent' }), FIRST_BYTE_MS_MAX)
      stdin.on('data', (chunk: Buffer) => {
        clearTimeout(timer)
        bytes += chunk.length
        if (bytes > INPUT_BYTES_MAX) resolve({ kind: 'too-long' })
        else chunks.push(chunk)
      })
      stdin.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve(text === '' ? { kind: 'none' } : { kind: 'text', text })
      })
      stdin.on('error', reject)
    })
  } finally {
    clearTimeout(timer)
    stdin.removeAllListeners()
    stdin.pause()
    // A pipe nobody reads from must not keep the program alive.
    stdin.unref?.()
  }
}
