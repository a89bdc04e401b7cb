import type { ProcessStart } from '../process/start-process.ts'
import type { Guard } from './writing/create-guard.ts'

// Where what runs unasked runs: it reads the working folders and the system's programs, writes nothing that stays, and reaches nobody.

/** `auto`: where it works. `required`: no command runs where it does not. */
export const SANDBOX_POLICIES = ['auto', 'required', 'off'] as const

/** Besides, commands that write run unasked in one that shows the working folders writable. */
export interface WritingPolicy {
  readonly writes: true
  /** Hosts that are reached from there: names, `*.name`, either with a port. */
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
  /** Programs from elsewhere that are shown too, and folders: real paths. */
  readonly shown?: readonly string[]
}

export type Enclosed =
  | { readonly ok: true; readonly start: ProcessStart }
  | { readonly ok: false; readonly why: string }

export type EnclosedWriting =
  | {
      readonly ok: true
      readonly start: ProcessStart
      /** To be called once the command has ended: what to tell about it. */
      readonly leave: (end: { readonly wasKilled: boolean }) => Promise<readonly string[]>
    }
  | { readonly ok: false; readonly why: string }

/** What sandboxes of one session share. */
export interface SandboxKeep {
  /** What commands left that runs by itself goes there. */
  readonly quarantine: string
  /** Where commands have their `/tmp` and their home. */
  readonly box: { readonly folder: () => Promise<string>; readonly close: () => Promise<void> }
  /** Those with commands that run, or with files that could not be moved away. */
  readonly guards: Set<Pick<Guard, 'settle' | 'takeUntold' | 'isIdle'>>
}

/** One in which the working folders can be written, but for what runs by itself outside of it. */
export interface WritingSandbox {
  readonly keep: SandboxKeep
  /** Whether some host can be reached. */
  readonly hasNetwork: boolean
  readonly variables: Sandbox['variables']
  readonly showsSystem: Sandbox['showsSystem']
  readonly problem: () => Promise<SandboxProblem | undefined>
  readonly encloseCommand: (
    command: string,
    start: Pick<InsideStart, 'cwd' | 'shown'>,
  ) => Promise<EnclosedWriting>
  /** Looks at what its commands made: why every command is to be asked about. Undefined: none of it is in the way. */
  readonly concern: () => Promise<string | undefined>
  /** The same right before a command runs outside of it: what to tell about, and what nobody was asked about yet. */
  readonly lookAround: () => Promise<{
    readonly notes: readonly string[]
    readonly problem: string | undefined
  }>
  /** A file that somebody allowed to write: it is no intruder. Real. */
  readonly expect: (path: string) => void
  /** Why this command did not get through in it, if it was tried. */
  readonly reasonOf: (command: string) => string | undefined
  readonly keepReason: (command: string, reason: string) => void
  readonly close: () => Promise<void>
}

export interface Sandbox {
  /** Absent: what writes is asked about. */
  readonly writing?: WritingSandbox | undefined
  readonly policy: SandboxPolicy
  /** Tried once, at the first question. */
  readonly state: () => Promise<SandboxState>
  /** Why nothing can run in it now: it does not work, or not for these folders. Undefined: it can. */
  readonly problem: () => Promise<SandboxProblem | undefined>
  /** The start of a program in it, as things are now. */
  readonly enclose: (start: InsideStart) => Promise<Enclosed>
  /** Whether a path outside of the working folders can be read in it, and is the real one. Takes a real path. */
  readonly showsSystem: (path: string) => Promise<boolean>
  /** What programs are found by in it, and which variables there are. */
  readonly variables: { readonly [name: string]: string }
}
