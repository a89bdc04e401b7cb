import { parseJsonObject, type JsonObject } from '../../../wire/json.ts'
import { findDocuments } from '../../../wire/json-documents.ts'
import { objectField, textField } from './field.ts'
import type { RecordedFormat } from './recorded-session.ts'

/** A file may begin with torn or foreign lines; after this many it is not worth looking further. */
export const DETECT_LINES_MAX = 50

const CODEX_TYPES = new Set(['session_meta', 'response_item', 'event_msg', 'turn_context', 'compacted'])
const PI_TYPES = new Set(['session', 'message', 'compaction', 'model_change', 'thinking_level_change'])

/** Types of Claude Code lines that may come before any line with a uuid. */
const CLAUDE_CODE_TYPES = new Set([
  'summary',
  'file-history-snapshot',
  'queue-operation',
  'last-prompt',
  'custom-title',
  'ai-title',
  'progress',
  'attachment',
])

/** The format by its first lines; undefined if none of them identifies it. */
export function detectFormat(lines: Iterable<string>): RecordedFormat | undefined {
  for (const line of lines) {
    const format = detectLine(line)
    if (format) return format
  }
  return undefined
}

function detectLine(line: string): RecordedFormat | undefined {
  const record = parseJsonObject(line) ?? findDocuments(line).documents[0]?.value
  // The one-document format may span lines; then its first line is an opening brace, and `info` comes next.
  if (!record) return /^\s*(?:\{\s*)?"info"\s*:\s*\{/.test(line) ? 'opencode' : undefined
  return detectRecord(record)
}

function detectRecord(record: JsonObject): RecordedFormat | undefined {
  const type = textField(record, 'type') ?? ''
  if (Array.isArray(record['messages']) && objectField(record, 'info')) return 'opencode'
  if (CODEX_TYPES.has(type) && objectField(record, 'payload')) return 'codex'
  if (textField(record, 'uuid') !== undefined && 'parentUuid' in record) return 'claude-code'
  if ((type === 'user' || type === 'assistant') && objectField(record, 'message')) return 'claude-code'
  if (PI_TYPES.has(type) && textField(record, 'timestamp') !== undefined) return 'pi'
  return CLAUDE_CODE_TYPES.has(type) ? 'claude-code' : undefined
}
