import fc from 'fast-check'
import { decodeLine } from '../../packages/palimpsest/src/transcript/lines/codec.ts'
import { ORIGINS, type Entry, type MessageEntry } from '../../packages/palimpsest/src/transcript/entry.ts'
import type { Usage } from '../../packages/palimpsest/src/wire/usage.ts'
import type { JsonText } from '../../packages/palimpsest/src/wire/json.ts'
import { parseMessage } from '../../packages/palimpsest/src/wire/parse.ts'
import { ANY_CHARACTER } from './any-character.ts'

// Entries of every kind, with texts that a parse and a print would change.

const id = fc.oneof(fc.uuid(), fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }))
const text = fc.oneof(
  fc.string({ unit: ANY_CHARACTER }),
  fc.constantFrom('', '\u2028', '\n', '"\\', '\ud800'),
)
const count = fc.nat()
const time = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.constantFrom(Number.NaN, 0.5, -62198755200000))

const place = fc.record(
  { id, parent: fc.option(id), at: time, sidechain: fc.constant(true as const) },
  { requiredKeys: ['id', 'parent', 'at'] },
)

/** Numbers as providers may print them and `JSON.stringify` would not. */
const numberText = fc.constantFrom('1.0', '1e400', '-0', '12345678901234567890', '1E3', '0.10', '7')
const stringText = fc.oneof(
  fc.string({ unit: ANY_CHARACTER }).map((value) => JSON.stringify(value)),
  fc.constantFrom('"\\u00e9"', '"\\/"', '"\\ud83d\\ude00"', '"é\u2028"'),
)
const space = fc.constantFrom('', '', '', ' ', '\n', '\t')

/** JSON texts in many spellings. */
export const jsonText: fc.Arbitrary<JsonText> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(numberText, stringText, fc.constantFrom('null', 'true', 'false', '{}', '[]', '{ }')),
    fc.tuple(space, fc.array(tie('value'))).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    fc.tuple(space, fc.array(fc.tuple(stringText, tie('value')))).map(([gap, members]) => {
      const named = members.map(([key, value], index) => `${index === 0 ? '"10"' : key}:${gap}${value}`)
      return `{${gap}${named.join(`,${gap}`)}}`
    }),
  ),
})).value

const blockText = fc.oneof(
  stringText.map((value) => `{"type":"text","text":${value}}`),
  fc
    .tuple(stringText, jsonText)
    .map(([callId, input]) => `{"type":"tool_use","id":${callId},"name":"run","input":${input}}`),
  fc
    .tuple(stringText, stringText)
    .map(([callId, value]) => `{"type":"tool_result","tool_use_id":${callId},"content":${value}}`),
  jsonText.map((value) => `{"type":"new_thing","data":${value}}`),
)

const usageText = fc.tuple(count, count).map(([i, o]) => `{"input_tokens":${i},"output_tokens":${o}}`)

export const messageText: fc.Arbitrary<JsonText> = fc
  .record({
    role: fc.constantFrom('user', 'assistant', 'system'),
    content: fc.oneof(
      stringText,
      fc.array(blockText).map((blocks) => `[${blocks.join(',')}]`),
    ),
    answer: fc.option(fc.tuple(stringText, usageText)),
    more: fc.option(jsonText),
    gap: space,
  })
  .map(({ role, content, answer, more, gap }) =>
    [
      `{${gap}"role":"${role}"`,
      `"content":${content}`,
      ...(answer ? [`"id":${answer[0]},"model":"claude"`, `"usage":${answer[1]}`] : []),
      ...(more === null ? [] : [`"1":${more}`]),
    ]
      .join(`,${gap}`)
      .concat(`${gap}}`),
  )

const messageEntry: fc.Arbitrary<MessageEntry> = fc
  .record({
    place,
    json: messageText,
    origin: fc.constantFrom(...ORIGINS),
    more: fc.record(
      {
        part: fc.constantFrom(
          'summary' as const,
          'attachment' as const,
          'kept' as const,
          'interrupted' as const,
        ),
        interrupted: fc.constant(true as const),
        copyOf: id,
        requestId: text,
        under: text,
        standsFor: text,
        sentEstimate: count,
        files: fc.array(
          fc.record(
            {
              path: text,
              hash: text,
              how: fc.constantFrom('read' as const, 'written' as const, 'edited' as const),
              before: text,
            },
            { requiredKeys: ['path', 'hash', 'how'] },
          ),
        ),
      },
      { requiredKeys: [] },
    ),
    facts: fc.option(
      fc.record(
        { responseId: text, model: text, usage: fc.record({ input_tokens: count, output_tokens: count }) },
        { requiredKeys: [] },
      ),
    ),
  })
  .map(({ place, json, origin, more, facts }) => {
    const parsed = parseMessage(JSON.parse(json))
    if (!parsed.ok) throw new Error(`not a message: ${json}`)
    const message = parsed.value
    return { kind: 'message', ...place, origin, message, json, ...more, ...(facts ?? factsIn(json)) }
  })

/** What the decoder finds in an answer's own text. */
function factsIn(json: JsonText) {
  const { id, model, usage }: { id?: string; model?: string; usage?: Usage } = JSON.parse(json)
  return { ...(id !== undefined && { responseId: id }), ...(model && { model }), ...(usage && { usage }) }
}

const boundaryEntry: fc.Arbitrary<Entry> = fc
  .record({
    place,
    ids: fc.record({ summary: fc.array(id), attachments: fc.array(id), logicalParent: fc.option(id) }),
    keeps: fc.constantFrom('tail' as const, 'head' as const),
    copies: fc.option(fc.array(id)),
    kept: fc.option(fc.record({ head: id, tail: id, anchor: id })),
    meta: fc.record(
      {
        trigger: fc.constantFrom('auto' as const, 'manual' as const),
        preTokens: count,
        postTokens: count,
        messagesSummarized: count,
        path: text,
        proof: fc.record({ kept: count, repaired: count, invented: count }),
        discoveredTools: fc.array(text),
        keptOffset: count,
        prefixOffset: count,
        extra: fc.dictionary(text, fc.oneof(text, count, fc.constant(null), fc.array(count))),
      },
      { requiredKeys: ['trigger', 'preTokens'] },
    ),
  })
  .map(({ place, ids, keeps, copies, kept, meta }) => ({
    kind: 'boundary',
    ...place,
    ...ids,
    keeps,
    meta,
    ...(copies && { copies }),
    ...(kept && { kept }),
  }))

const blockRef = fc.record({ entry: id, index: count })

function own<T extends object>(
  fields: fc.Arbitrary<T>,
): fc.Arbitrary<T & { id: string; parent: string | null; at: number }> {
  return fc.tuple(place, fields).map(([place, fields]) => ({ ...place, ...fields }))
}

const ownEntry: fc.Arbitrary<Entry> = fc.oneof(
  own(
    fc.record({
      kind: fc.constant('prefix' as const),
      model: text,
      betas: fc.array(text),
      system: jsonText,
      tools: jsonText,
      parameters: fc.dictionary(text, jsonText),
      reason: text,
    }),
  ),
  own(
    fc.record({
      kind: fc.constant('stored' as const),
      toolUseId: text,
      blob: fc.record({ path: text, bytes: count }),
      standIn: jsonText,
    }),
  ),
  own(
    fc.record({
      kind: fc.constant('edit' as const),
      cause: fc.constantFrom('cold', 'batch', 'forced', 'media', 'server', 'cache', 'snip', 'restore'),
      replace: fc.array(fc.record({ at: blockRef, with: fc.array(jsonText) })),
      drop: fc.array(id),
      freedTokens: count,
    }),
  ),
  own(fc.record({ kind: fc.constant('void' as const), target: id })),
  own(fc.record({ kind: fc.constant('pin' as const), target: blockRef, on: fc.boolean() })),
  own(fc.record({ kind: fc.constant('notes' as const), upTo: id, text })),
  own(fc.record({ kind: fc.constant('mail' as const), messageId: text, from: text })),
  own(
    fc.record(
      {
        kind: fc.constant('spent' as const),
        source: text,
        model: text,
        usage: fc.record({ input_tokens: count, output_tokens: count }),
        estimated: fc.constant(true as const),
      },
      { requiredKeys: ['kind', 'source', 'model', 'usage'] },
    ),
  ),
  own(fc.record({ kind: fc.constant('title' as const), title: text, firstPrompt: text })),
)

const otherEntry: fc.Arbitrary<Entry> = fc
  .record({ type: text, uuid: fc.option(id), data: jsonText })
  .map(({ type, uuid, data }) => {
    const line = `{"type":${JSON.stringify(type)},"uuid":${JSON.stringify(uuid)},"data":${data}}`
    return decodeLine(line.replaceAll(/[\n\r]/g, ' '))
  })
  .filter((entry) => entry.kind === 'other')

export const anyEntry: fc.Arbitrary<Entry> = fc.oneof(messageEntry, boundaryEntry, ownEntry, otherEntry)
