import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

// One client of a tmux server that takes command after command, and hears when something is drawn: no process for each key and each look.

export interface Control {
  /** What the command printed. */
  readonly run: (command: string) => Promise<string>
  /** Resolves when the program draws something, or after so long. */
  readonly drawn: (ms: number) => Promise<void>
}

interface Asked {
  readonly resolve: (printed: string) => void
  readonly reject: (error: Error) => void
}

/** The last word of `%begin` where the command is ours. */
const BEGIN_OWN = /^%begin \d+ (\d+) 1$/

/** To the session `main` of a server that runs. It ends with the server. */
export function attachControl(server: readonly string[]): Control {
  const child = spawn('tmux', [...server, '-C', 'attach', '-t', 'main'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const asked: Asked[] = []
  const listeners = new Set<() => void>()
  let block: { readonly id: string; readonly lines: string[] } | undefined
  let isOver = false

  createInterface({ input: child.stdout }).on('line', (line) => {
    if (block) {
      const [word, , id] = line.split(' ')
      if (id !== block.id || (word !== '%end' && word !== '%error')) return void block.lines.push(line)
      const printed = block.lines.join('\n')
      block = undefined
      const next = asked.shift()
      if (word === '%end') next?.resolve(printed)
      else next?.reject(new Error(`tmux: ${printed}`))
      return
    }
    const id = BEGIN_OWN.exec(line)?.[1]
    if (id !== undefined) block = { id, lines: [] }
    else if (line.startsWith('%output')) for (const listener of [...listeners]) listener()
  })
  const end = (): void => {
    isOver = true
    for (const { reject } of asked.splice(0)) reject(new Error('tmux is gone'))
    for (const listener of [...listeners]) listener()
  }
  child.once('close', end).once('error', end)
  // A server that ends does not read what is still written to it.
  child.stdin.on('error', () => undefined)

  return {
    run: async (command) =>
      await new Promise((resolve, reject) => {
        if (isOver) return reject(new Error('tmux is gone'))
        asked.push({ resolve, reject })
        child.stdin.write(`${command}\n`)
      }),
    drawn: async (ms) =>
      await new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          listeners.delete(done)
          resolve()
        }
        const timer = setTimeout(done, ms)
        listeners.add(done)
      }),
  }
}
