import { isInside } from '../paths/real-path.ts'
import { inOrder, type Mount } from './mount.ts'
import type { FilterKind } from './seccomp-filter.ts'

// Turns a plan into arguments for bubblewrap. Pure: what is not in the plan is not in the sandbox.

export interface InsidePlan {
  readonly mounts: readonly Mount[]
  readonly cwd: string
  /** Absent: `reading`, which writes nothing that stays. */
  readonly kind?: FilterKind | undefined
  /** Absolute path. */
  readonly program: string
  readonly args: readonly string[]
}

/** Features that older versions lack; the sandbox holds without them. */
export interface BubblewrapFeatures {
  /** 0.8 */
  readonly forbidsUserNamespaces: boolean
  /** 0.7 */
  readonly limitsScratch: boolean
}

export interface BubblewrapStart {
  readonly args: readonly string[]
  /** What bubblewrap reads from separate file descriptors. */
  readonly inputs: readonly { readonly fd: number; readonly bytes: Uint8Array }[]
}

/** Lower numbers are the channels of a shell: see `start-shell.ts`. */
const FIRST_FD = 10

/**
 * An empty new root; its own process tree, network and host name; no privileges. `/proc` is remounted read-only: root could write to it,
 * and `/proc/sys` is the machine's. The program is the first process, so that `/proc` shows no process from outside.
 *
 * It gets no session of its own here: the caller provides one (`hasGroup`), and we can reliably end only a process that stays in our group.
 * Bubblewrap ties the program to its own life only just before it starts it; if bubblewrap ended earlier, the program would stay behind.
 */
const ALWAYS: readonly string[] = [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
  ...['--unshare-cgroup-try', '--cap-drop', 'ALL', '--die-with-parent', '--as-pid-1'],
]

export function bubblewrapArguments(
  plan: InsidePlan,
  filter: Uint8Array,
  { forbidsUserNamespaces, limitsScratch }: BubblewrapFeatures,
): BubblewrapStart {
  const inputs = [{ fd: FIRST_FD, bytes: filter }]
  const give = (text: string): string => {
    const fd = FIRST_FD + inputs.length
    inputs.push({ fd, bytes: Buffer.from(text) })
    return String(fd)
  }
  const mounts = inOrder(plan.mounts)
  const args = [
    ...ALWAYS,
    ...(forbidsUserNamespaces ? ['--disable-userns'] : []),
    ...['--seccomp', String(FIRST_FD)],
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...mounts.flatMap((mount) => toArguments(mount, { mounts, give, limitsScratch })),
    ...['--remount-ro', '/', '--chdir', plan.cwd, '--', plan.program, ...plan.args],
  ]
  return { args, inputs }
}

interface Around {
  readonly mounts: readonly Mount[]
  readonly give: (text: string) => string
  readonly limitsScratch: boolean
}

function toArguments(mount: Mount, { mounts, give, limitsScratch }: Around): readonly string[] {
  switch (mount.kind) {
    case 'shown':
      return ['--ro-bind', mount.from ?? mount.path, mount.path]
    case 'writable':
      return ['--bind', mount.from ?? mount.path, mount.path]
    case 'link':
      return ['--symlink', mount.target, mount.path]
    case 'text':
      return ['--ro-bind-data', give(mount.text), mount.path]
    case 'scratch':
      return [...(limitsScratch ? ['--size', String(mount.bytesMax)] : []), '--tmpfs', mount.path]
    case 'closed':
      // No device works on these mounts, so opening this one is refused.
      if (!mount.isFolder) return ['--ro-bind', '/dev/null', mount.path]
      return ['--perms', permissionsOf(mount.path, mounts), '--tmpfs', mount.path, '--remount-ro', mount.path]
    default:
      mount satisfies never
      return []
  }
}

/** No permissions, or only passage to what is shown inside the folder. */
function permissionsOf(path: string, mounts: readonly Mount[]): string {
  const isPassage = mounts.some(
    (other) => (other.kind === 'shown' || other.kind === 'writable') && isInside(path, other.path),
  )
  return isPassage ? '0111' : '0000'
}
