export interface Finding {
  readonly what: string
  readonly state: 'good' | 'note' | 'bad'
  readonly text: string
}
