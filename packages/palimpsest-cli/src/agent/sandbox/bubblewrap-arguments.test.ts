import { describe, expect, test } from 'vitest'

import { bubblewrapArguments } from './bubblewrap-arguments.ts'
import type { Mount } from './mount.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'

const MOUNTS: readonly Mount[] = [
  { kind: 'shown', path: '/home/u/.ssh/work' },
  { kind: 'closed', path: '/home/u/.ssh', isFolder: true },
  { kind: 'closed', path: '/home/u/.netrc', isFolder: false },
  { kind: 'closed', path: '/home/u/.aws', isFolder: true },
  { kind: 'shown', path: '/home/u' },
  { kind: 'scratch', path: '/tmp', bytesMax: 1024 },
  { kind: 'shown', path: '/usr' },
  { kind: 'link', path: '/bin', target: 'usr/bin' },
  { kind: 'text', path: '/etc/passwd', text: 'root:x:0:0' },
]
const PLAN = { mounts: MOUNTS, cwd: '/home/u', program: '/bin/bash', args: ['-c', 'ls --bind / /'] }
const FILTER = new Uint8Array([1, 2])
const NEW = { forbidsUserNamespaces: true, limitsScratch: true }

describe('arguments of bubblewrap', () => {
  test('list outer mounts first, then what covers them, and nothing that is not in the plan', () => {
    const { args, inputs } = bubblewrapArguments(PLAN, FILTER, NEW)
    expect(args.join(' ')).toBe(
      [
        '--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try',
        '--cap-drop ALL --die-with-parent --as-pid-1 --disable-userns --seccomp 10',
        '--proc /proc --remount-ro /proc --dev /dev --remount-ro /dev',
        '--size 1024 --tmpfs /tmp --ro-bind /usr /usr --symlink usr/bin /bin',
        '--ro-bind /home/u /home/u --ro-bind-data 11 /etc/passwd',
        // A way through for what is shown inside; nothing at all elsewhere.
        '--perms 0111 --tmpfs /home/u/.ssh --remount-ro /home/u/.ssh',
        '--ro-bind /dev/null /home/u/.netrc',
        '--perms 0000 --tmpfs /home/u/.aws --remount-ro /home/u/.aws',
        '--ro-bind /home/u/.ssh/work /home/u/.ssh/work',
        '--remount-ro / --chdir /home/u -- /bin/bash -c ls --bind / /',
      ].join(' '),
    )
    expect(inputs).toEqual([
      { fd: 10, bytes: FILTER },
      { fd: 11, bytes: Buffer.from('root:x:0:0') },
    ])
  })

  test('omit what an older version lacks', () => {
    const { args } = bubblewrapArguments(PLAN, FILTER, { forbidsUserNamespaces: false, limitsScratch: false })
    expect(args).not.toContain('--disable-userns')
    expect(args).not.toContain('--size')
    expect(args).toContain('--tmpfs')
  })
})

describe('the profile for macOS', () => {
  test('denies by default, shows what the plan shows, and lets the last rule close it again', () => {
    const lines = seatbeltProfile([...MOUNTS, { kind: 'shown', path: '/x"y\\z' }]).split('\n')
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
    const rules = lines.filter((line) =>
      /\((allow|deny) file-read\* \((subpath|literal) "\/(home|usr|bin|x)/.test(line),
    )
    expect(rules).toEqual([
      '(allow file-read* (subpath "/usr"))',
      '(allow file-read* (literal "/bin"))',
      String.raw`(allow file-read* (subpath "/x\"y\\z"))`,
      '(allow file-read* (subpath "/home/u"))',
      '(deny file-read* (subpath "/home/u/.ssh"))',
      '(deny file-read* (subpath "/home/u/.netrc"))',
      '(deny file-read* (subpath "/home/u/.aws"))',
      '(allow file-read* (subpath "/home/u/.ssh/work"))',
    ])
    expect(lines.at(-2)).toBe('(deny network*)')
  })
})
