// What a command prints, bounded: keeps the beginning and the end, and counts the bytes in between.

export interface OutputBuffer {
  readonly push: (chunk: Uint8Array) => void
  /** What was printed since the last take. */
  readonly take: () => string
}

export interface OutputLimits {
  readonly headBytesMax: number
  readonly tailBytesMax: number
}

/** Far more than a model ever sees at once; the layer that stores large results gets all of it. */
export const OUTPUT_LIMITS: OutputLimits = { headBytesMax: 4 * 1024 * 1024, tailBytesMax: 4 * 1024 * 1024 }

export function createOutputBuffer({ headBytesMax, tailBytesMax }: OutputLimits): OutputBuffer {
  let head: Uint8Array[] = []
  let headBytes = 0
  let tail: Uint8Array[] = []
  let tailBytes = 0
  let dropped = 0
  return {
    push: (chunk) => {
      const forHead = chunk.subarray(0, headBytesMax - headBytes)
      if (forHead.length > 0) head.push(Uint8Array.from(forHead))
      headBytes += forHead.length
      const rest = chunk.subarray(forHead.length)
      if (rest.length === 0) return
      const kept = rest.subarray(Math.max(0, rest.length - tailBytesMax))
      dropped += rest.length - kept.length
      tail.push(Uint8Array.from(kept))
      tailBytes += kept.length
      for (
        let first = tail[0];
        first !== undefined && tailBytes - first.length >= tailBytesMax;
        first = tail[0]
      ) {
        tail.shift()
        tailBytes -= first.length
        dropped += first.length
      }
    },
    take: () => {
      const text = render(Buffer.concat(head), Buffer.concat(tail), dropped)
      head = []
      tail = []
      headBytes = tailBytes = dropped = 0
      return text
    },
  }
}

function render(head: Buffer, tail: Buffer, dropped: number): string {
  if (dropped === 0) return Buffer.concat([head, tail]).toString('utf8')
  const start = tail.findIndex((byte) => !isContinuation(byte))
  const end = tail.subarray(Math.max(0, start)).toString('utf8')
  return `${head.toString('utf8')}\n[… ${dropped} bytes in the middle are left out …]\n${end}`
}

/** The second to fourth byte of a UTF-8 character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
