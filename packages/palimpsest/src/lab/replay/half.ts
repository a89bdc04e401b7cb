import { hashText } from '../../wire/hash.ts'

/**
 * Which half of the recorded sessions a project belongs to. What is fitted or tuned sees one half; what is claimed is shown on the
 * other. It depends on the project's own name alone, so that another project moves none. A file's name has a half too: whatever was
 * fitted before projects were known was split so.
 */
export function half(projectOrFile: string): 'tuning' | 'held-out' {
  const name = projectOrFile.slice(projectOrFile.lastIndexOf('/') + 1)
  return Number.parseInt(hashText(name).slice(-1), 16) % 2 === 0 ? 'tuning' : 'held-out'
}
