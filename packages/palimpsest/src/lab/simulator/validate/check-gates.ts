import { isBlock, toBlocks, type Block } from '../../../wire/message.ts'
import type { MessagesRequest } from '../../../wire/request.ts'
import { hasBeta } from '../headers.ts'
import { refuse, type Refusal } from '../refusal.ts'
import { BETA_GATES, type BetaGate } from '../switches.ts'
import { asksForHour } from './check-caching.ts'
import type { JudgedModel } from './judged.ts'

// Fields of a beta without its header.

export function checkGates(request: MessagesRequest, { betas, switches }: JudgedModel): Refusal | undefined {
  for (const gate of gateNames()) {
    if (switches.betaGates[gate] === 'accept' || hasBeta(betas, BETA_GATES[gate])) continue
    const path = GATED[gate](request)
    if (path !== undefined) return refuse('request.beta-gate', { path, betas: BETA_GATES[gate].join(', ') })
  }
  return undefined
}

function gateNames(): readonly BetaGate[] {
  return [
    'contextManagement',
    'thresholdCompaction',
    'onDemandCompaction',
    'blockBinding',
    'clearAt',
    'messageOutputConfig',
    'displayUpdates',
    'hourLifetime',
    'toolReference',
    'toolChanges',
  ]
}

/** Where a request uses the gated field. */
const GATED: { readonly [gate in BetaGate]: (request: MessagesRequest) => string | undefined } = {
  contextManagement: (request) => (request.context_management ? 'context_management' : undefined),
  thresholdCompaction: (request) =>
    request.context_management?.edits?.some((edit) => edit.type === 'compact_20260112')
      ? 'context_management.edits'
      : undefined,
  onDemandCompaction: (request) => (request.compaction ? 'compaction' : undefined),
  blockBinding: ({ thinking }) =>
    thinking && 'block_binding' in thinking && thinking.block_binding
      ? `thinking.${thinking.type}.block_binding`
      : undefined,
  clearAt: (request) => messagePath(request, 'clear_at'),
  messageOutputConfig: (request) => messagePath(request, 'output_config'),
  displayUpdates: ({ thinking }) =>
    thinking && 'display' in thinking && thinking.display === 'updates'
      ? `thinking.${thinking.type}.display`
      : undefined,
  hourLifetime: (request) => (asksForHour(request) ? 'cache_control.ttl' : undefined),
  toolReference: (request) =>
    blockPath(
      request,
      (block) =>
        isBlock(block, 'tool_result') &&
        toBlocks(block.content).some((inner) => inner.type === 'tool_reference'),
    ),
  toolChanges: (request) =>
    blockPath(request, ({ type }) => type === 'tool_addition' || type === 'tool_removal'),
}

function messagePath(request: MessagesRequest, field: 'clear_at' | 'output_config'): string | undefined {
  const index = request.messages.findIndex((message) => message[field])
  return index < 0 ? undefined : `messages.${index}.${field}`
}

function blockPath(request: MessagesRequest, test: (block: Block) => boolean): string | undefined {
  for (const [i, { content }] of request.messages.entries()) {
    const j = typeof content === 'string' ? -1 : toBlocks(content).findIndex(test)
    if (j >= 0) return `messages.${i}.content.${j}`
  }
  return undefined
}
