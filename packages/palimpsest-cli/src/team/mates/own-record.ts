import { createQueue } from '../../agent/permissions/create-permit.ts'
import { writeMember, type MemberRecord } from '../team-record.ts'

/** What a member says about itself: changed here, with one write after another. */
export interface OwnRecord {
  readonly get: () => MemberRecord
  readonly set: (more: Partial<MemberRecord>) => Promise<void>
}

export function keepOwnRecord(first: MemberRecord, home: string, team: string): OwnRecord {
  const inLine = createQueue()
  let record = first
  return {
    get: () => record,
    set: async (more) => {
      record = { ...record, ...more }
      await inLine(async () => await writeMember(home, team, record))
    },
  }
}
