import type { AgentTool } from 'palimpsest'
import type { Permit } from 'palimpsest/loop'

export interface CodingToolsOptions {
  /** The folder to work in. */
  readonly cwd: string
  /** As `--permission-mode`. Absent: `default`, which asks about calls that write or run something. */
  readonly mode?: 'default' | 'accept-edits' | 'plan' | 'bypass' | undefined
  /** Rules such as `Bash(npm test)`, `Read(~/notes/**)`. */
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  /** Called before anything that needs a yes. Absent: such calls are refused, and the model reads why. */
  readonly ask?: ((question: CodingQuestion, signal: AbortSignal) => Promise<CodingAnswer>) | undefined
  /** Where unasked commands run. Absent: in a sandbox, if there is one. */
  readonly sandbox?: 'auto' | 'required' | 'off' | undefined
  /** `process.env`, or the part of it that commands may see. Keys are removed. */
  readonly env: { readonly [name: string]: string | undefined }
}

export interface CodingQuestion {
  readonly tool: string
  readonly input: object
  /** Why the call needs a yes. */
  readonly why: string
}

/** The model reads the `words` of a no. */
export type CodingAnswer = { readonly kind: 'yes' } | { readonly kind: 'no'; readonly words?: string }

export interface CodingTools {
  /** For `createAgent({ tools, permit })`. */
  readonly tools: readonly AgentTool[]
  readonly permit: Permit
  /** Ends commands that still run, and removes what the tools stored for themselves. */
  readonly close: () => Promise<void>
}

/**
 * Read, Write, Edit, Bash, Grep, Glob, WebFetch and TodoWrite, as the command has them, and the permit that decides whether a call may run.
 *
 * @example
 * const { tools, permit, close } = await codingTools({ cwd: process.cwd(), env: process.env })
 * const agent = createAgent({ client, model, tools, permit })
 */
export declare function codingTools(options: CodingToolsOptions): Promise<CodingTools>
