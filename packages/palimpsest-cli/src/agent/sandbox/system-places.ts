import { lstat, readlink } from 'node:fs/promises'
import { userInfo } from 'node:os'

import type { Mount } from './mount.ts'

// The part of the system that is shown: programs and libraries, and the few files of /etc that programs need. Never all of /etc, and
// never a folder in which users or services keep data.

const FOLDERS = {
  linux: '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /gnu/store',
  darwin:
    '/usr /bin /sbin /System /Library/Developer/CommandLineTools /nix/store /opt/homebrew/bin /opt/homebrew/Cellar /opt/homebrew/lib /opt/homebrew/opt /opt/homebrew/share',
}
/** A link into the store of NixOS, through which programs are found. */
const LINKS = ['/run/current-system']
const ETC =
  'ld.so.cache alternatives localtime timezone os-release debian_version lsb-release magic mime.types'.split(
    ' ',
  )
/** Folders below /usr that contain configuration and data. */
const NOT_SHOWN = ['/usr/local/etc', '/usr/local/var']

const HOSTS = '127.0.0.1 localhost\n::1 localhost\n'

export async function systemMounts(home: string, platform: string): Promise<readonly Mount[]> {
  const folders = platform === 'darwin' ? FOLDERS.darwin : FOLDERS.linux
  const found = await Promise.all([
    ...folders.split(' ').map(asFound),
    ...LINKS.map(asFound),
    ...ETC.map((name) => asFound(`/etc/${name}`)),
    ...NOT_SHOWN.map(asClosed),
  ])
  return [
    ...found.flat(),
    { kind: 'text', path: '/etc/hosts', text: HOSTS },
    { kind: 'text', path: '/etc/passwd', text: passwd(home) },
    { kind: 'text', path: '/etc/group', text: group() },
  ]
}

/** A link stays a link: its target must be shown separately. */
async function asFound(path: string): Promise<readonly Mount[]> {
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined) return []
  return found.isSymbolicLink()
    ? [{ kind: 'link', path, target: await readlink(path) }]
    : [{ kind: 'shown', path }]
}

async function asClosed(path: string): Promise<readonly Mount[]> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isDirectory() === true ? [{ kind: 'closed', path, isFolder: true }] : []
}

/** In a container, the user may have no account entry. */
function whoAmI(): { readonly username: string; readonly uid: number; readonly gid: number } {
  try {
    return userInfo()
  } catch {
    return { username: 'user', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  }
}

/** Programs can look up their own user; the machine's other accounts stay hidden. */
function passwd(home: string): string {
  const { username, uid, gid } = whoAmI()
  const own = uid === 0 ? [] : [`${username}:x:${uid}:${gid}::${home}:/bin/sh`]
  return ['root:x:0:0:root:/root:/bin/sh', ...own, 'nobody:x:65534:65534::/:/bin/false', ''].join('\n')
}

function group(): string {
  const { username, gid } = whoAmI()
  return ['root:x:0:', ...(gid === 0 ? [] : [`${username}:x:${gid}:`]), 'nogroup:x:65534:', ''].join('\n')
}
