// Generators tell what happens and return what it comes to. These two are all that anybody needs who only listens.

/** Runs it to its end and returns what it comes to; `told` hears each event on the way. */
export async function drive<Event, Result>(
  events: AsyncGenerator<Event, Result>,
  told: (event: Event) => void | Promise<void> = () => undefined,
): Promise<Result> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    const heard = told(next.value)
    // Who only listens costs no turn of the event loop: nothing else runs in between that would not have run.
    if (heard instanceof Promise) await heard
  }
}

/** The same events, each as `through` gives it, and the same result. */
export async function* relay<Event, Out, Result>(
  events: AsyncGenerator<Event, Result>,
  through: (event: Event) => Out,
): AsyncGenerator<Out, Result> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    yield through(next.value)
  }
}
