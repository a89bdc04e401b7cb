import { lstat } from 'node:fs/promises'
import { join } from 'node:path'

import { isInside } from '../../paths/real-path.ts'
import type { Mount } from '../mount.ts'

// What builds need beside the system's own: compilers and packages that people install below their home, and the certificates of the web.
// Code of others all of it; never a folder in which a tool keeps its keys as well.

const BELOW_HOME =
  '.nvm/versions .volta/bin .volta/tools .asdf .pyenv .rbenv .rustup/toolchains .cargo/bin .cargo/registry .local/share/mise/installs .local/share/fnm .local/share/uv .local/share/pnpm .local/lib .bun/bin .deno/bin .sdkman/candidates .ghcup/bin .opam/default .juliaup/bin go/bin go/pkg/mod sdk'.split(
    ' ',
  )
const SYSTEM =
  '/etc/ssl/certs /etc/ca-certificates /etc/pki/tls/certs /etc/pki/ca-trust/extracted /etc/nsswitch.conf /etc/protocols /etc/services /home/linuxbrew/.linuxbrew'.split(
    ' ',
  )

/** Those that are there. Takes real paths; what is in the working folders is shown with them. */
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
