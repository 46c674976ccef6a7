// When two run keys are one, spelled in two ways: `2026-12`, `2026-012`, `12-2026`, `202612` and `december-2026` are all the same month. Pure.

/** In the languages that columns are understood in. A word of three letters or more that begins one of these alone is that month. */
const MONTHS: readonly (readonly string[])[] = [
  ['january', 'januar', 'janvier', 'enero', 'gennaio', 'januari', 'janeiro', 'jänner'],
  ['february', 'februar', 'fevrier', 'febrero', 'febbraio', 'februari', 'fevereiro'],
  ['march', 'marz', 'mars', 'marzo', 'maart', 'marco', 'maerz', 'mrz'],
  ['april', 'avril', 'abril', 'aprile'],
  ['may', 'mai', 'mayo', 'maggio', 'mei', 'maio'],
  ['june', 'juni', 'juin', 'junio', 'giugno', 'junho'],
  ['july', 'juli', 'juillet', 'julio', 'luglio', 'julho'],
  ['august', 'aout', 'agosto', 'augustus'],
  ['september', 'septembre', 'septiembre', 'settembre', 'setembro'],
  ['october', 'oktober', 'octobre', 'octubre', 'ottobre', 'outubro'],
  ['november', 'novembre', 'noviembre', 'novembro'],
  ['december', 'dezember', 'decembre', 'diciembre', 'dicembre', 'dezembro'],
]

interface Part {
  readonly text: string
  readonly year: number | null
  /** `named`: as a word, which a year of two digits may follow. */
  readonly month: number | null
  readonly named: boolean
}

/** Equal for two spellings of one key. `nowMs`: the name of a month alone is that of the nearest one. */
export function runKeyForm(key: string, nowMs: number): string {
  const parts = partsOf(key)
  const [only] = parts
  if (parts.length === 1 && only?.named === true && only.month !== null) return nearest(only.month, nowMs)
  const years = parts.filter(({ year }) => year !== null)
  const months = monthsIn(parts)
  const [year, month] = [years[0], months[0]]
  if (year === undefined || month === undefined || years.length > 1 || months.length > 1)
    return parts.map(({ text }) => text).join(' ')
  const first = Math.min(parts.indexOf(year), parts.indexOf(month))
  const rest = parts.filter((part) => part !== year && part !== month).map(({ text }) => text)
  return rest.toSpliced(first, 0, `${year.year}-${month.month}`).join(' ')
}

/** For the producer of a message. */
export function otherSpellingText(known: string): string {
  return `run_key: is another spelling of ${known}, under which rows are recorded; spell it so, or use a key of its own`
}

/** A word before a number: `q4-2026` and `run 12 2026` are no months, and neither is a date with its day. */
function monthsIn(parts: readonly Part[]): readonly Part[] {
  const named = parts.filter(({ named }) => named)
  if (named.length > 0) return named
  const numbers = parts.filter(({ text }) => /^\d+$/.test(text))
  return numbers.length === 2 ? numbers.filter(({ month }) => month !== null) : []
}

function partsOf(key: string): readonly Part[] {
  const plain = key.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const hasName = words.some((word) => monthNamed(word.replace(/\d+/g, '')) !== null)
  return words.flatMap((word) => partsOfWord(word, hasName))
}

function partsOfWord(word: string, hasName: boolean): readonly Part[] {
  const [, yearFirst, monthLast] = /^((?:19|20)\d\d)(0[1-9]|1[0-2])$/.exec(word) ?? []
  if (yearFirst !== undefined && monthLast !== undefined) return [yearPart(yearFirst), numberPart(monthLast)]
  const [, monthFirst, yearLast] = /^(0[1-9]|1[0-2])((?:19|20)\d\d)$/.exec(word) ?? []
  if (monthFirst !== undefined && yearLast !== undefined) return [numberPart(monthFirst), yearPart(yearLast)]
  const [, before = '', name = '', after = ''] = /^(\d*)(\p{L}+)(\d*)$/u.exec(word) ?? []
  const month = monthNamed(name)
  if (month !== null && (before === '' || after === ''))
    return [numbered(before, true), { text: name, year: null, month, named: true }, numbered(after, true)].flat()
  return /^\d+$/.test(word)
    ? numbered(word, hasName)
    : [{ text: word.replace(/(?<!\d)0+(?=\d)/g, ''), year: null, month: null, named: false }]
}

function numbered(digits: string, hasName: boolean): readonly Part[] {
  if (digits === '') return []
  if (/^(?:19|20)\d\d$/.test(digits)) return [yearPart(digits)]
  return hasName && /^\d\d$/.test(digits) ? [yearPart(`20${digits}`)] : [numberPart(digits)]
}

function yearPart(text: string): Part {
  return { text, year: Number(text), month: null, named: false }
}

function numberPart(digits: string): Part {
  const text = digits.replace(/^0+(?=\d)/, '')
  const month = /^(?:[1-9]|1[0-2])$/.test(text) ? Number(text) : null
  return { text, year: null, month, named: false }
}

function monthNamed(word: string): number | null {
  if (word.length < 3) return null
  const found = MONTHS.flatMap((names, i) => (names.some((name) => name.startsWith(word)) ? [i + 1] : []))
  return found.length === 1 ? (found[0] ?? null) : null
}

function nearest(month: number, nowMs: number): string {
  const now = new Date(nowMs)
  const ahead = (month - 1 - now.getUTCMonth() + 12) % 12
  const months = now.getUTCFullYear() * 12 + now.getUTCMonth() + (ahead > 6 ? ahead - 12 : ahead)
  return `${Math.floor(months / 12)}-${month}`
}
