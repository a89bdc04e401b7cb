import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

// What work that runs inside of a test's process could leave there.

interface Timer {
  readonly hasRef: () => boolean
}

/** A run may keep its process from ending no longer than this, on a machine that is busy with others. */
const LINGER_MS_MAX = 30_000
const POLL_MS = 5

const whose = new AsyncLocalStorage<object>()
const timers = new Map<number, { readonly work: object; readonly timer: Timer }>()

createHook({
  // Promises are many, and none of them keeps a process from ending.
  trackPromises: false,
  init: (id, type, _, resource) => {
    const work = whose.getStore()
    if (work !== undefined && type === 'Timeout' && isTimer(resource))
      timers.set(id, { work, timer: resource })
  },
  destroy: (id) => void timers.delete(id),
}).enable()

/** Done when a process with nothing else to do would have ended. Throws where that takes too long, or the process is not as it was. */
export async function leavingNothing<T>(work: () => Promise<T>): Promise<T> {
  const own = {}
  const before = visibleState()
  const result = await whose.run(own, work)
  const end = Date.now() + LINGER_MS_MAX
  while ((await timersOf(own)) > 0) {
    if (Date.now() > end) throw new Error('a timer is left that would keep the process from ending')
    await sleep(POLL_MS)
  }
  const after = visibleState()
  if (after !== before) throw new Error(`the process was\n${before}\nand is\n${after}`)
  return result
}

/** How many timers would keep the process from ending when this is done. */
export async function timersLeftBy(work: () => Promise<unknown>): Promise<number> {
  const own = {}
  await whose.run(own, work)
  return await timersOf(own)
}

async function timersOf(own: object): Promise<number> {
  // That a timer is gone is told in the next turn.
  await nextTurn()
  return [...timers.values()].filter(({ work, timer }) => work === own && timer.hasRef()).length
}

/** What the next run would see. */
function visibleState(): string {
  const { exitCode, env } = process
  const listeners = process.eventNames().map((name) => `${String(name)} ${process.listenerCount(name)}`)
  return JSON.stringify({
    cwd: process.cwd(),
    umask: process.umask(),
    exitCode,
    env,
    listeners: listeners.toSorted(),
  })
}

function isTimer(resource: object): resource is Timer {
  return 'hasRef' in resource && typeof resource.hasRef === 'function'
}
