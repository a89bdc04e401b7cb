import type { Readable } from 'node:stream'

/** How long a pipe may stay silent before a run that already has its prompt starts without it. */
const FIRST_BYTE_MS_MAX = 3_000
/** A longer input is not a prompt; it belongs in a file. */
export const INPUT_BYTES_MAX = 10 * 1024 * 1024

export type Input =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  /** Something is connected, but nothing came. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'too-long' }

/**
 * Reads stdin. A terminal gives nothing. With `required`, this waits for the end, however long it takes. Otherwise it gives up on a pipe
 * that stays silent: many programs hand their children a pipe that never ends.
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
    // A pipe that nothing reads must not keep the program alive.
    stdin.unref?.()
  }
}
