/** What to type to take a removal back. */
export function undoCommand(id: string, session: string): string {
  return `palimpsest undo ${id} --session ${session}`
}
