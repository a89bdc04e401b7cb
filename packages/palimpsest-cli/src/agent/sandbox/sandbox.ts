import type { ProcessStart } from '../process/start-process.ts'
import type { Guard } from './writing/create-guard.ts'

// The sandbox for what runs unasked: it reads the working folders and the system's programs, writes nothing that stays, and has no network.

/** `auto`: used if it works. `required`: if it does not work, no command runs. */
export const SANDBOX_POLICIES = ['auto', 'required', 'off'] as const

/** In addition, commands that write run unasked, in a sandbox with writable working folders. */
export interface WritingPolicy {
  readonly writes: true
  /** Hosts that it can reach: names or `*.name`, each with an optional port. */
  readonly network: readonly string[]
  readonly required: boolean
}
export type SandboxPolicy = (typeof SANDBOX_POLICIES)[number] | WritingPolicy

export function isRequired(policy: SandboxPolicy): boolean {
  return typeof policy === 'string' ? policy === 'required' : policy.required
}

export interface SandboxProblem {
  readonly why: string
  readonly cure: string
}

export type SandboxState =
  | { readonly works: true; readonly by: 'bubblewrap' | 'sandbox-exec' }
  | ({ readonly works: false } & SandboxProblem)

export interface InsideStart {
  /** A name on the search path, or a path. */
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Real paths of programs and folders from elsewhere that are shown too. */
  readonly shown?: readonly string[]
}

export type Enclosed =
  | { readonly ok: true; readonly start: ProcessStart }
  | { readonly ok: false; readonly why: string }

export type EnclosedWriting =
  | {
      readonly ok: true
      readonly start: ProcessStart
      /** To be called when the command has ended. Returns notes about it. */
      readonly leave: (end: { readonly wasKilled: boolean }) => Promise<readonly string[]>
    }
  | { readonly ok: false; readonly why: string }

/** What the sandboxes of one session share. */
export interface SandboxKeep {
  /** Folder for files that commands left and that would run by themselves. */
  readonly quarantine: string
  /** Contains the `/tmp` and the home of commands. */
  readonly box: { readonly folder: () => Promise<string>; readonly close: () => Promise<void> }
  /** Guards with running commands, or with files that could not be moved away. */
  readonly guards: Set<Pick<Guard, 'settle' | 'takeUntold' | 'isIdle'>>
}

/** A sandbox in which the working folders are writable, except for files that run by themselves outside it. */
export interface WritingSandbox {
  readonly keep: SandboxKeep
  /** Whether any host can be reached. */
  readonly hasNetwork: boolean
  readonly variables: Sandbox['variables']
  readonly showsSystem: Sandbox['showsSystem']
  readonly problem: () => Promise<SandboxProblem | undefined>
  readonly encloseCommand: (
    command: string,
    start: Pick<InsideStart, 'cwd' | 'shown'>,
  ) => Promise<EnclosedWriting>
  /** Checks what its commands made. Returns why the user must be asked about every command. Undefined: nothing is in the way. */
  readonly concern: () => Promise<string | undefined>
  /** The same check right before a command runs outside: notes, and a problem that the user has not been asked about yet. */
  readonly lookAround: () => Promise<{
    readonly notes: readonly string[]
    readonly problem: string | undefined
  }>
  /** A write that was allowed: the file is not an intruder. Takes a real path. */
  readonly expect: (path: string) => void
  /** Why the sandbox blocked this command, if it ran there before. */
  readonly reasonOf: (command: string) => string | undefined
  readonly keepReason: (command: string, reason: string) => void
  readonly close: () => Promise<void>
}

export interface Sandbox {
  /** Absent: the user is asked about commands that write. */
  readonly writing?: WritingSandbox | undefined
  readonly policy: SandboxPolicy
  /** Tested once, at the first call. */
  readonly state: () => Promise<SandboxState>
  /** Why nothing can run in it now: it does not work, or not for these folders. Undefined: it can. */
  readonly problem: () => Promise<SandboxProblem | undefined>
  /** How to start a program in it, with the folders and rules as they are now. */
  readonly enclose: (start: InsideStart) => Promise<Enclosed>
  /** Whether a path outside the working folders can be read in it, and is the real one. Takes a real path. */
  readonly showsSystem: (path: string) => Promise<boolean>
  /** Its environment, including the `PATH` that finds programs. */
  readonly variables: { readonly [name: string]: string }
}
