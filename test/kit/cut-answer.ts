/** So many events of an answer's stream come, and then the user stops it. */
export function cutAnswer(response: Response, events: number, abort: AbortController): Response {
  let left = events
  const body = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TransformStream<string, string>({
      transform: async (chunk, controller) => {
        for (const event of chunk.split(/(?<=\n\n)/)) {
          left--
          if (left >= 0) controller.enqueue(event)
          if (left !== -1) continue
          await takenMeanwhile()
          abort.abort()
        }
      },
    }),
  )
  return new Response(body?.pipeThrough(new TextEncoderStream()), response)
}

/** All of it goes through this process: so many turns are far more than its way to the reader takes. */
const TURNS = 50

/** What came before is taken first. */
async function takenMeanwhile(): Promise<void> {
  for (let i = 0; i < TURNS; i++) await new Promise((resolve) => setImmediate(resolve))
}
