/** The command that undoes a removal. */
export function undoCommand(id: string, session: string): string {
  return `palimpsest undo ${id} --session ${session}`
}
