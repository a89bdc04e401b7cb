import { lstat } from 'node:fs/promises'
import { join } from 'node:path'

import { isInside } from '../../paths/real-path.ts'
import type { Mount } from '../mount.ts'

// What builds need besides the system's files: compilers and packages that people install below their home, and web certificates. All of it
// is third-party code; never a folder in which a tool also keeps its keys.

const BELOW_HOME =
  '.nvm/versions .volta/bin .volta/tools .asdf .pyenv .rbenv .rustup/toolchains .cargo/bin .cargo/registry .local/share/mise/installs .local/share/fnm .local/share/uv .local/share/pnpm .local/lib .bun/bin .deno/bin .sdkman/candidates .ghcup/bin .opam/default .juliaup/bin go/bin go/pkg/mod sdk'.split(
    ' ',
  )
const SYSTEM =
  '/etc/ssl/certs /etc/ca-certificates /etc/pki/tls/certs /etc/pki/ca-trust/extracted /etc/nsswitch.conf /etc/protocols /etc/services /home/linuxbrew/.linuxbrew'.split(
    ' ',
  )

/** Mounts for the places that exist. Takes real paths; places in the working folders are shown with those. */
export async function toolMounts(home: string, folders: readonly string[]): Promise<readonly Mount[]> {
  const paths = [...SYSTEM, ...BELOW_HOME.map((name) => join(home, name))]
  const found = await Promise.all(paths.map((path) => lstat(path).catch(() => undefined)))
  return paths.flatMap((path, index): readonly Mount[] => {
    const stat = found[index]
    const isThere = stat?.isDirectory() === true || stat?.isFile() === true
    const isWork = folders.some((folder) => isInside(folder, path) || isInside(path, folder))
    return isThere && !isWork ? [{ kind: 'shown', path }] : []
  })
}
