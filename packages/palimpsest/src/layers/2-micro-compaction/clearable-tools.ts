// Whose results may be cleared: what they said can be had again by the same call. Not: questions to the user, notebooks, tasks, agents,
// MCP. Names as the usual agents spell them, in lower case.

const CLEARABLE = new Set(
  `
  read read_file view cat ls list
  bash shell exec_command local_shell write_stdin run_command powershell
  grep search_files find glob
  websearch web_search webfetch web_fetch
  edit multiedit edit_file str_replace apply_patch
  write write_file create_file
  `
    .split(/\s+/)
    .filter((name) => name !== ''),
)

export function isClearableTool(name: string): boolean {
  return CLEARABLE.has(name.toLowerCase())
}
