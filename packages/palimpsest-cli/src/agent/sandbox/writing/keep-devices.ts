import { chmod, stat } from 'node:fs/promises'

// The devices in the sandbox are the machine's. Their owner can change who may use them, and if we run as root, that includes commands.

const DEVICES = 'null zero full random urandom tty'.split(' ').map((name) => `/dev/${name}`)
const MODE_BITS = 0o7777

/** Returns a function that restores the current modes of the devices. */
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
