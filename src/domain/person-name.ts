// Names of people, as two writings of one are told to be the same.

/** Letter case, accents, blanks and hyphens make no other name: gateways and offices write them in their own way. */
export function nameKey(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
}
