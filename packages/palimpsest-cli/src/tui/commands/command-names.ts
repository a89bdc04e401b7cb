/** The slash commands, in the order of `/help`. */
export const COMMANDS = [
  { name: 'help', words: '', summary: 'list the commands and the keys' },
  { name: 'compact', words: '[instructions]', summary: 'summarise the conversation to make room' },
  { name: 'context', words: '', summary: 'show what fills the window, and what was removed' },
  {
    name: 'cost',
    words: '[day USD|off]',
    summary: 'show the cost so far; set a cap for the day',
  },
  { name: 'model', words: '[name]', summary: 'use another model, from a list or by name' },
  {
    name: 'permissions',
    words: '[add|rm RULE]',
    summary: 'list permission rules; add or remove one',
  },
  { name: 'plan', words: '', summary: 'turn plan mode on or off: read only' },
  { name: 'clear', words: '', summary: 'start a new session' },
  { name: 'resume', words: '[id]', summary: 'resume another session' },
  { name: 'rewind', words: '', summary: 'go back to before one of your messages' },
  { name: 'undo', words: '[ID]', summary: 'undo a removal; without an id, list them' },
  { name: 'memory', words: '', summary: 'list memories, and what needs your approval' },
  { name: 'dream', words: '', summary: 'consolidate memories now, in the background' },
  { name: 'tasks', words: '[kill] [ID]', summary: 'list, watch or end what runs in the background' },
  { name: 'shutdown', words: '', summary: 'end the team that this conversation leads' },
  {
    name: 'agents',
    words: '[create|edit]',
    summary: 'list agent types; create or edit one',
  },
  { name: 'who', words: '', summary: 'list everybody you can write to' },
  { name: 'tell', words: 'NAME text', summary: 'write to one of them; * writes to all' },
  { name: 'init', words: '', summary: 'write AGENTS.md: what agents must know here' },
  { name: 'status', words: '', summary: 'show model, folder, mode, instructions, session' },
  { name: 'hooks', words: '', summary: 'list hooks, and when they run' },
  { name: 'doctor', words: '', summary: 'check the setup, and show how to fix it' },
  {
    name: 'export',
    words: '[file]',
    summary: 'write the conversation to .md, .html or .jsonl',
  },
  { name: 'quit', words: '', summary: 'leave; /exit does the same' },
] as const

export type CommandName = (typeof COMMANDS)[number]['name']

/** Planned, not implemented yet. */
export const PLANNED_COMMANDS = 'mcp skills'.split(' ')

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name)

/** The text beside a name in the completion list. */
export function commandLabel(name: string): string {
  const known = COMMANDS.find((command) => command.name === name)
  return known ? `/${`${known.name} ${known.words}`.padEnd(LABEL_COLUMNS)} ${known.summary}` : name
}

const LABEL_COLUMNS = Math.max(...COMMANDS.map(({ name, words }) => name.length + words.length)) + 2
