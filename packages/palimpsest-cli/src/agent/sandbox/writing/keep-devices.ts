import { chmod, stat } from 'node:fs/promises'

// The devices in the sandbox are those of the machine. Whoever owns them can change who may use them, and root does.

const DEVICES = 'null zero full random urandom tty'.split(' ').map((name) => `/dev/${name}`)
const MODE_BITS = 0o7777

/** What gives them the modes back that they have now. */
export async function keepDevices(): Promise<() => Promise<void>> {
  if (process.getuid?.() !== 0) return async () => undefined
  const before = await modesOf()
  return async () => {
    for (const [path, mode] of await modesOf()) {
      const wanted = before.get(path)
      if (wanted !== undefined && wanted !== mode) await chmod(path, wanted)
    }
  }
}

async function modesOf(): Promise<ReadonlyMap<string, number>> {
  const found = await Promise.all(
    DEVICES.map(async (path) => [path, (await stat(path).catch(() => undefined))?.mode] as const),
  )
  return new Map(
    found.flatMap(([path, mode]) => (mode === undefined ? [] : [[path, mode & MODE_BITS] as const])),
  )
}
