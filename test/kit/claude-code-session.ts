// A small recorded session of Claude Code: rounds of reading, each about 900 tokens long, and a last word.

export function claudeCodeSession(rounds: number): string {
  const lines: object[] = []
  const add = (type: string, message: object): void => {
    const number = lines.length
    lines.push({
      type,
      uuid: `u${number}`,
      parentUuid: number === 0 ? null : `u${number - 1}`,
      sessionId: 's',
      timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, number * 10)).toISOString(),
      isSidechain: false,
      message,
    })
  }
  const answer = (id: string, content: object[]): void => {
    const usage = { input_tokens: 5_000 + 900 * lines.length, output_tokens: 40 }
    add('assistant', { id, model: 'claude-opus-4-5', role: 'assistant', content, usage })
  }
  add('user', { role: 'user', content: 'Read all of it. Never write to shared_state.' })
  for (let i = 0; i < rounds; i++) {
    const input = { file_path: `/p/src/file-${i}.ts`, note: `after value_${i - 2}_7` }
    answer(`m${i}`, [{ type: 'tool_use', id: `t${i}`, name: 'Read', input }])
    const text = Array.from({ length: 40 }, (_, j) => `export const value_${i}_${j} = part_${i}(${j})`).join(
      '\n',
    )
    add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: text }] })
  }
  answer('end', [{ type: 'text', text: 'All read; value_1_3 is the one.' }])
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}
