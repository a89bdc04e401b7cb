// Small programs for an interpreter that plainly want to do more than read. The sandbox holds either way, but a program that is sure to
// fail in it is asked about at once.

const WANTS = [
  // Writing.
  /\.write(_text|_bytes|lines|File|FileSync|Sync)?\s*\(|\bopen\s*\([^)]*,\s*(mode\s*=\s*)?['"][rb]*[wax+]/,
  /\b(createWriteStream|appendFile|writeFile|mkdir|makedirs|rmdir|rmtree|unlink|rename|replace_file|copyfile|copytree|symlink|chmod)(Sync)?\b/,
  /\bshutil\.|\bFile\.(write|open\([^)]*['"]w)|\bos\.(remove|replace|system|popen|exec|spawn)|-i\b.*\binplace\b/,
  // Starting programs and reaching other machines.
  /\b(subprocess|child_process|execSync|spawnSync|popen|system\s*\()/,
  /\b(requests|urllib|http\.client|aiohttp|httpx|socket|fetch\s*\(|axios|net\/http|websocket)/,
  // Code of the project or of packages, which may want more.
  /\b(pip|npm|importlib|runpy|__import__)\b/,
]

export function scriptWantsMore(script: string): boolean {
  return WANTS.some((pattern) => pattern.test(script))
}
