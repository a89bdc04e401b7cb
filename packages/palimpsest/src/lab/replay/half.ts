import { hashText } from '../../wire/hash.ts'

/**
 * Which half of the recorded sessions a project belongs to. Fitting and tuning see one half; claims are shown on the other. The half
 * depends only on the project's own name, so another project moves none. A file name has a half too: data that was fitted before we
 * knew the projects was split by file name.
 */
export function half(projectOrFile: string): 'tuning' | 'held-out' {
  const name = projectOrFile.slice(projectOrFile.lastIndexOf('/') + 1)
  return Number.parseInt(hashText(name).slice(-1), 16) % 2 === 0 ? 'tuning' : 'held-out'
}
