// What a process in the sandbox may ask of the kernel, as a seccomp filter. Mounts decide which files exist; the filter closes what mounts
// leave open: a process can connect to sockets in a folder that is bound read-only, owners can change the modes of files that were opened
// outside, and session keys are in no file.
//
// If the working folders are writable, files there have owners and modes to change, and programs start and call servers: the network is
// the sandbox's own, so they reach only each other. The filter refuses what would make a program run as its owner.

/** `errno.h` */
const EPERM = 1
const EROFS = 30
const ENOSYS = 38
/** "Network is down": the message that a program then prints explains it best. */
const ENETDOWN = 100
const ENOTSUP = 95
const EAFNOSUPPORT = 97

/** Which sandbox the filter is for. */
export type FilterKind = 'reading' | 'writing'

/** Names as in `process.arch`. */
type Architecture = 'x64' | 'arm64'

interface Machine {
  /** `AUDIT_ARCH_…` */
  readonly audit: number
  /** Numbers from here on belong to another calling convention of the same kernel. */
  readonly numbersEnd: number
}

const MACHINES: { readonly [A in Architecture]: Machine } = {
  x64: { audit: 0xc000_003e, numbersEnd: 0x4000_0000 },
  arm64: { audit: 0xc000_00b7, numbersEnd: 0x4000_0000 },
}

/** Number of a call on x64 and arm64. `none`: the architecture has no such call. */
type Numbers = readonly [x64: number | 'none', arm64: number | 'none']

interface Refused {
  readonly errno: number
  /** Absent: both kinds. */
  readonly only?: FilterKind
  readonly calls: { readonly [name: string]: Numbers }
}

/** We do not know later calls, so we cannot tell what they do. */
const LAST_KNOWN = 469

const REFUSED: readonly Refused[] = [
  {
    errno: ENETDOWN,
    only: 'reading',
    calls: { socket: [41, 198], connect: [42, 203] },
  },
  {
    // Another way to make all other calls, including those for sockets.
    errno: ENOSYS,
    calls: {
      io_uring_setup: [425, 425],
      io_uring_enter: [426, 426],
      io_uring_register: [427, 427],
      // Its flags are in memory, which a filter cannot read; without it programs use `clone`.
      clone3: [435, 435],
    },
  },
  {
    // Its flags are in memory; without it programs use `openat`.
    errno: ENOSYS,
    only: 'writing',
    calls: { openat2: [437, 437] },
  },
  {
    // These attributes include capabilities and access control lists.
    errno: ENOTSUP,
    only: 'writing',
    calls: {
      setxattr: [188, 5],
      lsetxattr: [189, 6],
      fsetxattr: [190, 7],
      setxattrat: [463, 463],
      file_setattr: [469, 469],
    },
  },
  {
    // A file that was opened outside, or a device, is not on a read-only mount: its owner could change it.
    errno: EROFS,
    only: 'reading',
    calls: {
      chmod: [90, 'none'],
      fchmod: [91, 52],
      fchmodat: [268, 53],
      fchmodat2: [452, 452],
      chown: [92, 'none'],
      fchown: [93, 55],
      lchown: [94, 'none'],
      fchownat: [260, 54],
      utime: [132, 'none'],
      utimes: [235, 'none'],
      futimesat: [261, 'none'],
      utimensat: [280, 88],
      setxattr: [188, 5],
      lsetxattr: [189, 6],
      fsetxattr: [190, 7],
      setxattrat: [463, 463],
      removexattr: [197, 14],
      lremovexattr: [198, 15],
      fremovexattr: [199, 16],
      removexattrat: [466, 466],
      file_setattr: [469, 469],
    },
  },
  {
    errno: EPERM,
    calls: {
      // Other mounts, other namespaces.
      mount: [165, 40],
      umount2: [166, 39],
      pivot_root: [155, 41],
      chroot: [161, 51],
      move_mount: [429, 429],
      open_tree: [428, 428],
      open_tree_attr: [467, 467],
      fsopen: [430, 430],
      fsconfig: [431, 431],
      fsmount: [432, 432],
      fspick: [433, 433],
      mount_setattr: [442, 442],
      setns: [308, 268],
      unshare: [272, 97],
      // Other processes.
      ptrace: [101, 117],
      process_vm_readv: [310, 270],
      process_vm_writev: [311, 271],
      process_madvise: [440, 440],
      pidfd_getfd: [438, 438],
      kcmp: [312, 272],
      // Session keys are shared with everything the user runs.
      keyctl: [250, 219],
      add_key: [248, 217],
      request_key: [249, 218],
      // Files by number instead of path.
      name_to_handle_at: [303, 264],
      open_by_handle_at: [304, 265],
      // The machine, and doors into the kernel that no command needs.
      bpf: [321, 280],
      perf_event_open: [298, 241],
      userfaultfd: [323, 282],
      fanotify_init: [300, 262],
      init_module: [175, 105],
      finit_module: [313, 273],
      delete_module: [176, 106],
      kexec_load: [246, 104],
      kexec_file_load: [320, 294],
      reboot: [169, 142],
      swapon: [167, 224],
      swapoff: [168, 225],
      acct: [163, 89],
      quotactl: [179, 60],
      quotactl_fd: [443, 443],
      syslog: [103, 116],
      settimeofday: [164, 170],
      clock_settime: [227, 112],
      clock_adjtime: [305, 266],
      adjtimex: [159, 171],
      sethostname: [170, 161],
      setdomainname: [171, 162],
      vhangup: [153, 58],
      iopl: [172, 'none'],
      ioperm: [173, 'none'],
      mknod: [133, 'none'],
      mknodat: [259, 33],
    },
  },
]

const SOCKETPAIR: Numbers = [53, 199]
const CLONE: Numbers = [56, 220]
const IOCTL: Numbers = [16, 29]

/** Types that `socketpair` may have: datagram sockets could send elsewhere, by a path. */
const STREAM = 1
const PACKETS_IN_ORDER = 5
const SOCKET_TYPE_BITS = 0xf
/** `CLONE_NEWNS` and all other namespace flags. */
const NAMESPACE_BITS = 0x7e02_0000
/** They type characters into a terminal: `TIOCSTI`, `TIOCLINUX`. */
const TYPING = [0x5412, 0x541c] as const

/** Calls that set a mode, with the indexes of their mode and flags arguments. */
const MODES: readonly { readonly numbers: Numbers; readonly mode: number; readonly flags?: number }[] = [
  { numbers: [90, 'none'], mode: 1 },
  { numbers: [91, 52], mode: 1 },
  { numbers: [268, 53], mode: 2 },
  { numbers: [452, 452], mode: 2 },
  { numbers: [85, 'none'], mode: 1 },
  // Opening a file sets a mode only if it creates the file.
  { numbers: [2, 'none'], mode: 2, flags: 1 },
  { numbers: [257, 56], mode: 3, flags: 2 },
]
/** `S_ISUID`, `S_ISGID` */
const OWNER_BITS = 0o6000
/** `O_CREAT`, `O_TMPFILE` */
const MAKING_BITS = 0x40_0040

const SOCKET: Numbers = [41, 198]
/** `AF_UNIX`, `AF_INET`, `AF_INET6` */
const FAMILIES = [1, 2, 10] as const
/** Only its protocol 0 is allowed, which lists network addresses. */
const AF_NETLINK = 16

/** Undefined for an architecture whose calls are not listed here. */
export function seccompFilter(architecture: string, kind: FilterKind = 'reading'): Uint8Array | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined
  const { audit, numbersEnd } = MACHINES[architecture]
  const index = architecture === 'x64' ? 0 : 1
  const numberOf = (numbers: Numbers): readonly number[] => {
    const number = numbers[index]
    return number === 'none' ? [] : [number]
  }
  const steps: readonly Step[] = [
    load(AT_ARCHITECTURE),
    ...unless(isEqual(audit), [answer(KILL)]),
    load(AT_NUMBER),
    ...when(isAtLeast(numbersEnd), [answer(KILL)]),
    ...when(isAtLeast(LAST_KNOWN + 1), [answer(error(ENOSYS))]),
    ...REFUSED.filter(({ only = kind }) => only === kind).flatMap(({ errno, calls }) =>
      Object.values(calls)
        .flatMap(numberOf)
        .flatMap((number) => when(isEqual(number), [answer(error(errno))])),
    ),
    ...numberOf(SOCKETPAIR).flatMap((number) => when(isEqual(number), PAIRS)),
    ...numberOf(CLONE).flatMap((number) => when(isEqual(number), COPIES)),
    ...numberOf(IOCTL).flatMap((number) => when(isEqual(number), CONTROLS)),
    ...(kind === 'writing' ? writingSteps(numberOf) : []),
    answer(ALLOW),
  ]
  return encode(steps)
}

// The filter machine: one register, loads, forward jumps by at most 255 steps, and an answer at the end of every path.

interface Step {
  readonly code: number
  readonly yes: number
  readonly no: number
  readonly value: number
}

type Test = Pick<Step, 'code' | 'value'>

/** `struct seccomp_data`: only the low half of an argument matters here. */
const AT_NUMBER = 0
const AT_ARCHITECTURE = 4
const AT_ARGUMENTS = 16
const ARGUMENT_BYTES = 8

const KILL = 0x8000_0000
const ALLOW = 0x7fff_0000
const ERROR = 0x0005_0000

const LOAD = 0x20
const AND = 0x54
const JUMP_EQUAL = 0x15
const JUMP_AT_LEAST = 0x35
const JUMP_ANY_BIT = 0x45
const ANSWER = 0x06

const plain = (code: number, value: number): Step => ({ code, yes: 0, no: 0, value })
const load = (at: number): Step => plain(LOAD, at)
const loadArgument = (index: number): Step => load(AT_ARGUMENTS + ARGUMENT_BYTES * index)
const answer = (value: number): Step => plain(ANSWER, value)
const error = (errno: number): number => ERROR | errno
const isEqual = (value: number): Test => ({ code: JUMP_EQUAL, value })
const isAtLeast = (value: number): Test => ({ code: JUMP_AT_LEAST, value })
const hasAnyBit = (value: number): Test => ({ code: JUMP_ANY_BIT, value })

/** The steps must answer: nothing restores the register after them. */
const when = (test: Test, steps: readonly Step[]): readonly Step[] => [
  { ...test, yes: 0, no: steps.length },
  ...steps,
]
const unless = (test: Test, steps: readonly Step[]): readonly Step[] => [
  { ...test, yes: steps.length, no: 0 },
  ...steps,
]

const PAIRS: readonly Step[] = [
  loadArgument(1),
  plain(AND, SOCKET_TYPE_BITS),
  ...when(isEqual(STREAM), [answer(ALLOW)]),
  ...when(isEqual(PACKETS_IN_ORDER), [answer(ALLOW)]),
  answer(error(ENETDOWN)),
]
const COPIES: readonly Step[] = [
  loadArgument(0),
  ...when(hasAnyBit(NAMESPACE_BITS), [answer(error(EPERM))]),
  answer(ALLOW),
]
const CONTROLS: readonly Step[] = [
  loadArgument(1),
  ...TYPING.flatMap((request) => when(isEqual(request), [answer(error(EPERM))])),
  answer(ALLOW),
]

const SOCKETS: readonly Step[] = [
  loadArgument(0),
  ...FAMILIES.flatMap((family) => when(isEqual(family), [answer(ALLOW)])),
  ...unless(isEqual(AF_NETLINK), [answer(error(EAFNOSUPPORT))]),
  loadArgument(2),
  ...when(isEqual(0), [answer(ALLOW)]),
  answer(error(EAFNOSUPPORT)),
]

function writingSteps(numberOf: (numbers: Numbers) => readonly number[]): readonly Step[] {
  return [
    ...numberOf(SOCKET).flatMap((number) => when(isEqual(number), SOCKETS)),
    ...MODES.flatMap(({ numbers, mode, flags }) => {
      const look = [loadArgument(mode), ...when(hasAnyBit(OWNER_BITS), [answer(error(EPERM))]), answer(ALLOW)]
      const steps =
        flags === undefined
          ? look
          : [loadArgument(flags), ...when(hasAnyBit(MAKING_BITS), look), answer(ALLOW)]
      return numberOf(numbers).flatMap((number) => when(isEqual(number), steps))
    }),
  ]
}

const STEP_BYTES = 8

function encode(steps: readonly Step[]): Uint8Array {
  const bytes = Buffer.alloc(steps.length * STEP_BYTES)
  for (const [index, { code, yes, no, value }] of steps.entries()) {
    const at = index * STEP_BYTES
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(yes, at + 2)
    bytes.writeUInt8(no, at + 3)
    bytes.writeUInt32LE(value, at + 4)
  }
  return bytes
}
