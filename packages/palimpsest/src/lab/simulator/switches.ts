// Where the real API's behavior is unknown or differs between accounts, the simulator's rule is a switch. The defaults accept everything
// that real clients were seen to send; `STRICT_SWITCHES` refuses whatever any reading of the rules refuses.

export type Permission = 'accept' | 'refuse'

/** The beta headers that open each gated request field. */
export const BETA_GATES = {
  contextManagement: ['context-management-', 'compact-2026-01-12'],
  thresholdCompaction: ['compact-2026-01-12'],
  onDemandCompaction: ['compact-2026-09-04'],
  blockBinding: ['thinking-binding-controls-'],
  clearAt: ['mid-conversation-system-clear-at-'],
  messageOutputConfig: ['mid-conversation-output-config-', 'per-turn-control-'],
  displayUpdates: ['thinking-display-updates-'],
  hourLifetime: ['extended-cache-ttl-'],
  toolReference: ['advanced-tool-use-', 'tool-search-tool-'],
  toolChanges: ['mid-conversation-tool-changes-', 'inline-tools-'],
} as const satisfies { readonly [gate: string]: readonly string[] }

export type BetaGate = keyof typeof BETA_GATES

export interface Switches {
  /** Whether a field without its beta header is refused. */
  readonly betaGates: { readonly [gate in BetaGate]: Permission }
  /** A beta name that is not in the published list. */
  readonly unknownBeta: Permission
  /** A model that is not in the table: refused with 404, or treated as a cautious Claude model. */
  readonly unknownModel: Permission
  /** Top-level and message keys that the API does not name. */
  readonly unknownKeys: Permission
  readonly unknownBlocks: Permission
  /** A conversation that begins with an assistant message without a compaction block. */
  readonly firstMessageAssistant: Permission
  /** Text of whitespace only. */
  readonly blankText: Permission
  /** Text before the tool results of a message. */
  readonly textBeforeResults: Permission
  readonly emptyToolResult: Permission
  /** An empty text block directly in a tool result. Elsewhere it is always refused. */
  readonly emptyResultText: Permission
  /** Manual thinking: the assistant message of a running tool loop must begin with thinking. `accept` does not require it. */
  readonly thinkingFirst: Permission
  /** An assistant message whose last block is thinking. */
  readonly thinkingLast: Permission
  /** A signature that this simulator did not make. */
  readonly foreignSignatures: Permission
  readonly clearThinkingNeedsThinking: Permission
  /**
   * What happens to thinking after another prefix if the request does not say: `error` for accounts made since the end of August 2026,
   * `allow` for older ones, `drop_block` as the documentation also allows.
   */
  readonly prefixMismatch: 'error' | 'drop_block' | 'allow'
  /** The same for thinking of another account, on models that bind it. */
  readonly accountMismatch: 'error' | 'drop_block'
  /** What a signature covers of its own message: the thinking before the block, or every block before it. */
  readonly boundInMessage: 'thinking' | 'blocks'
  /** Whether the check uses the conversation as sent, or after server-side edits. */
  readonly serverEdits: 'as-sent' | 'as-edited'
  /** Where an on-demand compaction reports its tokens. */
  readonly compactionUsage: 'iterations' | 'top-level'
  /** Most distinct tools that a compaction block can record. */
  readonly compactionToolReferencesMax: number
  /** What answers when the script has run out. */
  readonly pastScript: 'offline' | 'refuse'
}

export const DEFAULT_SWITCHES: Switches = {
  betaGates: {
    contextManagement: 'refuse',
    thresholdCompaction: 'refuse',
    onDemandCompaction: 'refuse',
    blockBinding: 'refuse',
    clearAt: 'refuse',
    messageOutputConfig: 'accept',
    displayUpdates: 'accept',
    hourLifetime: 'accept',
    toolReference: 'accept',
    toolChanges: 'accept',
  },
  unknownBeta: 'accept',
  unknownModel: 'refuse',
  unknownKeys: 'accept',
  unknownBlocks: 'refuse',
  firstMessageAssistant: 'refuse',
  blankText: 'accept',
  textBeforeResults: 'refuse',
  emptyToolResult: 'accept',
  emptyResultText: 'accept',
  thinkingFirst: 'accept',
  thinkingLast: 'refuse',
  foreignSignatures: 'refuse',
  clearThinkingNeedsThinking: 'accept',
  prefixMismatch: 'error',
  accountMismatch: 'error',
  boundInMessage: 'thinking',
  serverEdits: 'as-sent',
  compactionUsage: 'iterations',
  compactionToolReferencesMax: 10_000,
  pastScript: 'offline',
}

export const STRICT_SWITCHES: Switches = {
  ...DEFAULT_SWITCHES,
  betaGates: {
    contextManagement: 'refuse',
    thresholdCompaction: 'refuse',
    onDemandCompaction: 'refuse',
    blockBinding: 'refuse',
    clearAt: 'refuse',
    messageOutputConfig: 'refuse',
    displayUpdates: 'refuse',
    hourLifetime: 'refuse',
    toolReference: 'refuse',
    toolChanges: 'refuse',
  },
  unknownBeta: 'refuse',
  unknownKeys: 'refuse',
  blankText: 'refuse',
  emptyToolResult: 'refuse',
  emptyResultText: 'refuse',
  thinkingFirst: 'refuse',
  clearThinkingNeedsThinking: 'refuse',
  boundInMessage: 'blocks',
  serverEdits: 'as-edited',
}
