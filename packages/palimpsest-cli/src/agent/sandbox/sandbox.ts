import type { ProcessStart } from '../process/start-process.ts'

// Where what runs unasked runs: it reads the working folders and the system's programs, writes nothing that stays, and reaches nobody.

/** `auto`: where it works. `required`: no command runs where it does not. */
export const SANDBOX_POLICIES = ['auto', 'required', 'off'] as const
export type SandboxPolicy = (typeof SANDBOX_POLICIES)[number]

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

export interface Sandbox {
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
