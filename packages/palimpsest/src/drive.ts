// Generators yield what happens and return the result. A caller that only listens needs nothing beyond these two functions.

/** Runs the generator to its end and returns its result; `told` receives each event on the way. */
export async function drive<Event, Result>(
  events: AsyncGenerator<Event, Result>,
  told: (event: Event) => void | Promise<void> = () => undefined,
): Promise<Result> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    const heard = told(next.value)
    // A synchronous listener must not cost a turn of the event loop, in which other work could run.
    if (heard instanceof Promise) await heard
  }
}

/** Yields each event as `through` returns it, and returns the same result. */
export async function* relay<Event, Out, Result>(
  events: AsyncGenerator<Event, Result>,
  through: (event: Event) => Out,
): AsyncGenerator<Out, Result> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value
    yield through(next.value)
  }
}
