import type { AgentTool } from 'palimpsest'
import type { Permit } from 'palimpsest/loop'

export interface CodingToolsOptions {
  /** The folder to work in. */
  readonly cwd: string
  /** As `--permission-mode`. Left out: `default`, what writes or runs is asked about. */
  readonly mode?: 'default' | 'accept-edits' | 'plan' | 'bypass' | undefined
  /** Rules such as `Bash(npm test)`, `Read(~/notes/**)`. */
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  /** Asked before what needs a yes. Left out: that is refused, and the model is told why. */
  readonly ask?: ((question: CodingQuestion, signal: AbortSignal) => Promise<CodingAnswer>) | undefined
  /** Where what runs unasked runs. Left out: in a sandbox where there is one. */
  readonly sandbox?: 'auto' | 'required' | 'off' | undefined
  /** `process.env`, or what commands are to see of it. Keys are taken out. */
  readonly env: { readonly [name: string]: string | undefined }
}

export interface CodingQuestion {
  readonly tool: string
  readonly input: object
  /** Why it is asked about. */
  readonly why: string
}

/** `words` of a no go to the model. */
export type CodingAnswer = { readonly kind: 'yes' } | { readonly kind: 'no'; readonly words?: string }

export interface CodingTools {
  /** For `createAgent({ tools, permit })`. */
  readonly tools: readonly AgentTool[]
  readonly permit: Permit
  /** Ends commands that still run, and removes what the tools kept for themselves. */
  readonly close: () => Promise<void>
}

/**
 * Read, Write, Edit, Bash, Grep, Glob, WebFetch and TodoWrite, as the command has them, and what decides whether a call may run.
 *
 * @example
 * const { tools, permit, close } = await codingTools({ cwd: process.cwd(), env: process.env })
 * const agent = createAgent({ client, model, tools, permit })
 */
export declare function codingTools(options: CodingToolsOptions): Promise<CodingTools>
