import { buildRequest } from '../../packages/palimpsest/src/request/build-request.ts'
import type {
  BoundaryEntry,
  Entry,
  EntryId,
  MessageEntry,
} from '../../packages/palimpsest/src/transcript/entry.ts'
import { modelPolicy } from '../../packages/palimpsest/src/situation/model-policy.ts'
import { placeOfUser } from '../../packages/palimpsest/src/transcript/place-system.ts'
import type { ThinkingPolicy } from '../../packages/palimpsest/src/transcript/settle.ts'
import type { ViewBlock } from '../../packages/palimpsest/src/transcript/view-block.ts'
import { emptyView, step, type View, type ViewNode } from '../../packages/palimpsest/src/transcript/view.ts'
import {
  isBlock,
  isThinking,
  type Block,
  type WireMessage,
} from '../../packages/palimpsest/src/wire/message.ts'
import { findModelFacts } from '../../packages/palimpsest/src/wire/model-facts.ts'
import type { MessagesResponse } from '../../packages/palimpsest/src/wire/response.ts'
import type { Judge, Operation, Played, PlayedRequest, ResultKind } from './conversation.ts'

export const MODELS = ['claude-opus-5-5', 'claude-fable-5-1', 'claude-opus-4-6'] as const

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

type Body<T> = T extends Entry ? Omit<T, 'id' | 'parent' | 'at'> : never

export function policyOf(model: string): ThinkingPolicy {
  return modelPolicy(model, findModelFacts(model))
}

/** Carries the operations out. Every request is put to the judge; a refusal throws with the request it was about. */
export async function play(operations: readonly Operation[], judge: Judge): Promise<Played> {
  const entries: Entry[] = []
  const requests: PlayedRequest[] = []
  let view: View = emptyView()
  let declared = false
  let model = 0
  let tools = 0

  const nextId = (): EntryId => `e${entries.length}`
  const append = (body: Body<Entry>): Entry => {
    const entry = {
      ...body,
      id: nextId(),
      parent: entries.at(-1)?.id ?? null,
      at: entries.length * 1000,
    } as Entry
    entries.push(entry)
    view = step(view, entry)
    return entry
  }
  const message = (wire: WireMessage, extra: Partial<MessageEntry> = {}): Entry =>
    append({ kind: 'message', origin: 'user', message: wire, json: JSON.stringify(wire), ...extra })
  const prefix = (reason: string): void => {
    append({
      kind: 'prefix',
      model: MODELS[model] ?? MODELS[0],
      betas: ['extended-cache-ttl-2025-04-11'],
      system: '[{"type":"text","text":"You are a careful assistant."}]',
      tools: toolsText(tools),
      parameters: { thinking: '{"type":"adaptive"}' },
      reason,
    })
  }

  const operate = {
    say: ({ text, image, asString }) => {
      const blocks: Block[] = [{ type: 'text', text }]
      if (image) blocks.push(imageBlock())
      message({ role: 'user', content: asString && !image ? text : blocks })
    },
    system: ({ text }) => {
      if (view.open.size === 0 && view.nodes.at(-1)?.role === 'user')
        message({ role: 'system', content: text })
    },
    results: ({ order, together, kinds }) => {
      const ids = [...view.open.keys()]
      const turned = [...ids.slice(order % (ids.length || 1)), ...ids.slice(0, order % (ids.length || 1))]
      const blocks = turned.flatMap((id, i) => resultBlock(id, kinds[i % kinds.length] ?? 'text'))
      if (together && blocks.length > 0) message({ role: 'user', content: blocks }, { origin: 'tool' })
      else for (const block of blocks) message({ role: 'user', content: [block] }, { origin: 'tool' })
    },
    clear: ({ pick, count }) => {
      const results = clearable(view)
      const chosen = results.slice(pick % (results.length || 1)).slice(0, count)
      if (chosen.length === 0) return
      append({
        kind: 'edit',
        cause: 'batch',
        replace: chosen.map(({ at, block }) => ({ at, with: [standIn(block)] })),
        drop: [],
        freedTokens: 1,
      })
      declared = true
    },
    'clear-input': ({ pick }) => {
      const uses = view.nodes.flatMap((node) => node.blocks.filter(({ block }) => isBlock(block, 'tool_use')))
      const chosen = uses[pick % (uses.length || 1)]
      if (!chosen) return
      const text = JSON.stringify({ ...chosen.block, input: { cleared: true } })
      append({
        kind: 'edit',
        cause: 'server',
        replace: [{ at: chosen.at, with: [text] }],
        drop: [],
        freedTokens: 1,
      })
      declared = true
    },
    store: ({ pick }) => {
      const results = clearable(view)
      const chosen = results[pick % (results.length || 1)]
      if (!chosen || !isBlock(chosen.block, 'tool_result')) return
      append({
        kind: 'stored',
        toolUseId: chosen.block.tool_use_id,
        blob: { path: 'x.txt', bytes: 3 },
        standIn: standIn(chosen.block),
      })
      declared = true
    },
    snip: ({ pick }) => {
      const rounds = view.nodes.flatMap((node, i) => {
        const results = view.nodes[i + 1]
        return node.role === 'assistant' && results?.answers === node.source.id && view.open.size === 0
          ? [[...node.entries, ...results.entries]]
          : []
      })
      const drop = rounds[pick % (rounds.length || 1)]
      if (!drop) return
      append({ kind: 'edit', cause: 'snip', replace: [], drop, freedTokens: 1 })
      declared = true
    },
    compact: ({ keep, keeps, attach, copy }) => {
      if (view.open.size > 0 || view.nodes.length === 0) return
      compact(
        view,
        {
          keep,
          keeps,
          attach,
          copy: copiedFrom(view, entries, keeps === 'tail' ? { keep, copy } : undefined),
        },
        append,
        message,
      )
      declared = true
    },
    undo: ({ pick }) => {
      const targets = entries.filter((e) => e.kind === 'edit' || e.kind === 'boundary' || e.kind === 'void')
      const target = targets[pick % (targets.length || 1)]
      if (!target) return
      append({ kind: 'void', target: target.id })
      declared = true
    },
    pin: ({ pick, on }) => {
      const results = clearable(view)
      const chosen = results[pick % (results.length || 1)]
      if (chosen) append({ kind: 'pin', target: chosen.at, on })
    },
    prefix: ({ change }) => {
      if (change === 'model') model = (model + 1) % MODELS.length
      if (change === 'tools') tools++
      if (change === 'back') [model, tools] = [0, 0]
      prefix(change)
      declared = true
    },
    ask: async ({ reply, lines }) => {
      if (!view.nodes.some((node) => node.role === 'user' && node.blocks.some(isSaying))) return
      interrupt(view, message)
      if (lastRole(view) === 'assistant') message({ role: 'user', content: 'go on' })
      if (!beginsWithUser(view)) return
      const built = buildRequest(view, {
        maxTokens: 1000,
        thinking: policyOf(MODELS[model] ?? MODELS[0]),
        lifetimes: { system: '1h', messages: '5m' },
        stream: false,
      })
      requests.push({ built, entries: entries.length, declared })
      declared = false
      const answer = await judge(built, reply)
      if ('refused' in answer) throw new Error(`refused: ${answer.refused}\n${built.body}`)
      // After a system message the API allows no user message: the next one goes before it, unless an answer came between.
      declared =
        endsInSystem(view) && answer.message.content.every((block) => isThinking(block) || isBlankText(block))
      appendAnswer(answer, built.under, lines, message)
    },
  } satisfies { [K in Operation['op']]: (operation: Extract<Operation, { op: K }>) => void | Promise<void> }

  prefix('start')
  for (const operation of operations)
    await (operate[operation.op] as (o: Operation) => void | Promise<void>)(operation)
  return { entries, view, requests }
}

/** Every tool use without a result gets an "interrupted" one, stored like any other message. */
function interrupt(view: View, message: (wire: WireMessage, extra?: Partial<MessageEntry>) => Entry): void {
  for (const id of [...view.open.keys()])
    message(
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: id, content: 'interrupted', is_error: true }],
      },
      { origin: 'engine', part: 'interrupted' },
    )
}

function appendAnswer(
  answer: { message: MessagesResponse; json: string },
  under: string,
  lines: boolean,
  message: (wire: WireMessage, extra?: Partial<MessageEntry>) => Entry,
): void {
  const parts = lines ? answer.message.content.map((block) => [block]) : [answer.message.content]
  for (const content of parts)
    message(
      { ...answer.message, content },
      {
        origin: 'model',
        json: lines ? JSON.stringify({ ...answer.message, content }) : answer.json,
        responseId: answer.message.id,
        model: answer.message.model,
        usage: answer.message.usage,
        under,
      },
    )
}

function compact(
  view: View,
  {
    keep,
    keeps,
    attach,
    copy,
  }: { keep: number; keeps: 'tail' | 'head'; attach: boolean; copy: readonly MessageEntry[] },
  append: (body: Body<Entry>) => Entry,
  message: (wire: WireMessage, extra?: Partial<MessageEntry>) => Entry,
): void {
  const nodes =
    keeps === 'tail'
      ? view.nodes.slice(view.nodes.length - Math.min(keep, view.nodes.length - 1))
      : view.nodes.slice(0, keep)
  const whole = wholePairs(nodes)
  const head = whole[0]?.entries[0]
  const tail = whole.at(-1)?.entries.at(-1)
  const number = view.log.length
  const summary = `e${number + 1}`
  const copies = copy.map((_entry, i) => `e${number + 2 + i}`)
  const attachments = attach ? [`e${number + 2 + copies.length}`] : []
  append({
    kind: 'boundary',
    summary: [summary],
    keeps,
    ...(copies.length > 0 ? { copies } : {}),
    attachments,
    logicalParent: view.leaf,
    meta: { trigger: 'manual', preTokens: 1000, postTokens: 100 },
    ...(head && tail ? { kept: { head, tail, anchor: summary } } : {}),
  } satisfies Body<BoundaryEntry>)
  message({ role: 'user', content: 'Summary of what came before.' }, { origin: 'engine', part: 'summary' })
  for (const { id: copyOf, parent: _parent, at: _at, usage: _usage, ...body } of copy)
    append({ ...body, part: 'kept', copyOf })
  if (attach)
    message({ role: 'user', content: 'An attached file.' }, { origin: 'engine', part: 'attachment' })
}

/** The messages of the last nodes before the kept ones, pairs whole. */
function copiedFrom(
  view: View,
  entries: readonly Entry[],
  wish: { readonly keep: number; readonly copy: number } | undefined,
): MessageEntry[] {
  if (!wish) return []
  const end = view.nodes.length - Math.min(wish.keep, view.nodes.length - 1)
  const before = view.nodes.slice(Math.max(0, end - wish.copy), view.nodes[end]?.answers ? end - 1 : end)
  const ids = wholePairs(before).flatMap((node) => node.entries)
  return entries.filter(
    (entry): entry is MessageEntry =>
      entry.kind === 'message' && ids.includes(entry.id) && (!entry.part || entry.part === 'interrupted'),
  )
}

function wholePairs(nodes: readonly ViewNode[]): readonly ViewNode[] {
  return nodes[0]?.answers === undefined ? nodes : nodes.slice(1)
}

function clearable(view: View): ViewBlock[] {
  return view.nodes.flatMap((node) => node.blocks.filter((block) => isBlock(block.block, 'tool_result')))
}

function standIn(block: Block): string {
  const id = isBlock(block, 'tool_result') ? block.tool_use_id : ''
  return JSON.stringify({
    type: 'tool_result',
    tool_use_id: id,
    content: '[Old tool result content cleared]',
  })
}

function resultBlock(id: string, kind: ResultKind): Block[] {
  if (kind === 'missing') return []
  const content = {
    text: 'line one\nline two',
    error: 'ENOENT: no such file',
    image: [imageBlock(), { type: 'text', text: 'a picture' }] as Block[],
    empty: '(Read completed with no output)',
    odd: [{ type: 'text', text: '\u0000\u001b[31m "quoted" \ud83d' }] as Block[],
  }[kind]
  return [
    {
      type: 'tool_result',
      tool_use_id: id,
      ...(content === undefined ? {} : { content }),
      ...(kind === 'error' ? { is_error: true } : {}),
    },
  ]
}

function imageBlock(): Block {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } }
}

function toolsText(version: number): string {
  const tool = (name: string): object => ({
    name,
    description: `${name}, edition ${version}`,
    input_schema: { type: 'object', properties: {} },
  })
  return JSON.stringify([tool('Read'), tool('Bash'), tool('Grep')])
}

function isSaying({ block }: ViewBlock): boolean {
  return isBlock(block, 'text') && block.text.trim() !== ''
}

function lastRole(view: View): string | undefined {
  return view.nodes.findLast((node) => node.role !== 'system' && node.blocks.some(isVisible))?.role
}

function beginsWithUser(view: View): boolean {
  const first = view.nodes.find((node) => node.blocks.some(isVisible))
  return (
    first?.role === 'user' && first.blocks.some((block) => isSaying(block) || block.block.type === 'image')
  )
}

function isVisible({ block }: ViewBlock): boolean {
  return !isBlock(block, 'text') || block.text.trim() !== ''
}

function endsInSystem(view: View): boolean {
  return placeOfUser(view.nodes) < view.nodes.length
}

function isBlankText(block: Block): boolean {
  return isBlock(block, 'text') && block.text.trim() === ''
}
