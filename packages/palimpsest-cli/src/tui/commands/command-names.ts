/** What stands behind a slash, in the order of `/help`. */
export const COMMANDS = [
  { name: 'help', words: '', summary: 'this list, and the keys' },
  { name: 'compact', words: '[instructions]', summary: 'summarises the conversation to make room' },
  { name: 'context', words: '', summary: 'what fills the window, and what was taken out' },
  {
    name: 'cost',
    words: '[day USD|off]',
    summary: 'what session and day cost; a limit for the day',
  },
  { name: 'model', words: '[name]', summary: 'another model, from a list with prices or by name' },
  {
    name: 'permissions',
    words: '[add|rm RULE]',
    summary: 'what it may do unasked, and which rule says so',
  },
  { name: 'plan', words: '', summary: 'plan mode: it reads, and changes nothing' },
  { name: 'clear', words: '', summary: 'begins a new session' },
  { name: 'resume', words: '[id]', summary: 'resumes another session' },
  { name: 'rewind', words: '', summary: 'goes back to before something you said' },
  { name: 'undo', words: 'ID', summary: 'takes a removal back; /context lists them' },
  { name: 'memory', words: '', summary: 'what is remembered, and what waits for you' },
  { name: 'dream', words: '', summary: 'consolidates memory now, in the background' },
  { name: 'tasks', words: '[kill] [ID]', summary: 'what runs in the background: list, watch, end' },
  { name: 'shutdown', words: '', summary: 'ends the team that this conversation leads' },
  {
    name: 'agents',
    words: '[create|edit]',
    summary: 'types of agents: lists, makes or changes one',
  },
  { name: 'who', words: '', summary: 'who is there to write to' },
  { name: 'tell', words: 'NAME text', summary: 'writes to one of them; * is all' },
  { name: 'init', words: '', summary: 'writes AGENTS.md: what agents must know here' },
  { name: 'status', words: '', summary: 'model, folder, mode, instructions, session' },
  { name: 'hooks', words: '', summary: 'commands that run by themselves, and when' },
  { name: 'doctor', words: '', summary: 'what is misconfigured, and how to fix it' },
  {
    name: 'export',
    words: '[file]',
    summary: 'the conversation to a file: .md, .html or .jsonl',
  },
  { name: 'quit', words: '', summary: 'leaves; /exit does too' },
] as const

export type CommandName = (typeof COMMANDS)[number]['name']

/** Promised, and not there yet. */
export const PLANNED_COMMANDS = 'mcp skills'.split(' ')

export const COMMAND_NAMES: readonly string[] = COMMANDS.map(({ name }) => name)

/** What stands beside a name in the list that completes it. */
export function commandLabel(name: string): string {
  const known = COMMANDS.find((command) => command.name === name)
  return known ? `/${`${known.name} ${known.words}`.padEnd(LABEL_COLUMNS)} ${known.summary}` : name
}

const LABEL_COLUMNS = Math.max(...COMMANDS.map(({ name, words }) => name.length + words.length)) + 2
