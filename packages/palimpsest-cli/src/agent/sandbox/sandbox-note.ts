import { isInside } from '../paths/real-path.ts'

// What the model reads when a command may have failed because of the sandbox, and how to have the user asked instead.

const CERTAIN =
  /Read-only file system|EROFS|Network is down|ENETDOWN|Network is unreachable|Could not resolve host|Temporary failure in name resolution|EAI_AGAIN|Couldn't connect to server|error while loading shared libraries/i
const LIKELY = /Permission denied|EACCES|Operation not permitted|EPERM/i
const MISSING = /No such file or directory|ENOENT/
/** An absolute path. */
const PATH = /\/[^\s:'"‘’`]+/g

const CURE =
  'To have the user asked and run it as it is, send the same command again with outside_sandbox set to true.'

export interface EndedInside {
  readonly output: string
  readonly failed: boolean
  /** Folders of the work that it could see. */
  readonly folders: readonly string[]
}

/** Empty if the sandbox cannot be the reason. */
export function sandboxNote({ output, failed, folders }: EndedInside): readonly string[] {
  if (CERTAIN.test(output))
    return [`[It ran in a sandbox: read-only, no network, nothing but the working folders. ${CURE}]`]
  if (!failed || !(LIKELY.test(output) || namesMissing(output, folders))) return []
  return [
    `[It ran in a sandbox that shows nothing but the working folders and the system's programs: that may be why it failed. ${CURE}]`,
  ]
}

function namesMissing(output: string, folders: readonly string[]): boolean {
  const paths = output.split('\n').flatMap((line) => (MISSING.test(line) ? (line.match(PATH) ?? []) : []))
  return paths.some((path) => !folders.some((folder) => isInside(folder, path)))
}
