// Words that every project uses: they look like names but point to nothing. Chosen by hand: we looked through the tokens that more than
// a fifth of the sessions in the tuning half shared, across projects, and list here what is general vocabulary.

const COMMON = new Set(
  `
  ELSE ERROR EVENT EXACT EXIST EXISTS EXPORT EXTRA EITHER EVERY EMPTY ENABLE ENABLED ENTRY ERRORS EXAMPLE EXCEPT EXPECT
  UTF-8 UTF-16 SHA-1 SHA-256 ISO-8601 MD5 GPT-4 GPT-5
  GitHub GitLab JavaScript TypeScript OpenAI ChatGPT PowerShell macOS iOS VSCode DevOps
  e.g i.e etc vs. a.k.a
  README.md package.json package-lock.json tsconfig.json .gitignore go.mod go.sum Cargo.toml Cargo.lock pyproject.toml
  AGENTS.md CLAUDE.md CHANGELOG.md LICENSE.md index.ts index.js main.go main.py __init__.py
  Node.js node.js Next.js Vue.js
  /tmp /dev/null /bin/sh /bin/bash /usr/bin /usr/bin/env /etc/hosts origin/main origin/master origin/HEAD refs/heads
  console.log JSON.stringify JSON.parse process.env err.Error fmt.Println fmt.Printf fmt.Sprintf fmt.Errorf os.path
  self.assertEqual error.message err.message e.message example.com created_at updated_at headRefName
  file_path old_string new_string replace_all old_text new_text output_mode tool_use tool_result is_error run_in_background
  subagent_type filePath oldString newString oldText newText taskId activeForm in_progress exit_code max_output_tokens
  yield_time_ms workdir
  --help --version --oneline --stat --all --force --quiet --verbose --name-only --no-edit --json --short --cached --color
  --graph --decorate --list --filter --body --model --show-current
  `
    .split(/\s+/)
    .filter((word) => word !== ''),
)

export function isCommonWord(text: string): boolean {
  return COMMON.has(text)
}
