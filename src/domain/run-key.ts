// When two run keys are one, spelled in two ways: `2026-12`, `2026-012`, `12-2026`, `202612` and `december-2026` are all the same month. Pure.

/** In the languages that columns are understood in. A word of three letters or more that begins one of these alone is that month. */
const MONTHS: readonly (readonly string[])[] = [
  ['january', 'januar', 'janvier', 'enero', 'gennaio', 'januari', 'janeiro', 'jänner'],
  ['february', 'februar', 'fevrier', 'février', 'febrero', 'febbraio', 'februari', 'fevereiro'],
  ['march', 'märz', 'maerz', 'marz', 'mrz', 'mars', 'marzo', 'maart', 'março'],
  ['april', 'avril', 'abril', 'aprile'],
  ['may', 'mai', 'mayo', 'maggio', 'mei', 'maio'],
  ['june', 'juni', 'juin', 'junio', 'giugno', 'junho'],
  ['july', 'juli', 'juillet', 'julio', 'luglio', 'julho'],
  ['august', 'aout', 'août', 'agosto', 'augustus'],
  ['september', 'septembre', 'septiembre', 'settembre', 'setembro'],
  ['october', 'oktober', 'octobre', 'octubre', 'ottobre', 'outubro'],
  ['november', 'novembre', 'noviembre', 'novembro'],
  ['december', 'dezember', 'decembre', 'décembre', 'diciembre', 'dicembre', 'dezembro'],
]

const BETWEEN = '[\\s_./-]'
const YEAR = '(?<year>(?:19|20)\\d\\d)'
const MONTH = '0*(?<month>1[0-2]|[1-9])'
const TWO_DIGITS = '(?<month>0[1-9]|1[0-2])'
const NAME = '(?<name>[\\p{L}\\p{M}]+)'
const ALONE = (text: string) => new RegExp(`(?<![\\p{L}\\p{M}\\p{N}])${text}(?![\\p{L}\\p{M}\\p{N}])`, 'u')

/** The first that is found counts: a day is more than its month. */
const PERIODS: readonly string[] = [
  `${YEAR}${BETWEEN}+${MONTH}${BETWEEN}+0*(?<day>[12]\\d|3[01]|[1-9])`,
  `${YEAR}${TWO_DIGITS}(?<day>0[1-9]|[12]\\d|3[01])`,
  `${YEAR}${BETWEEN}*w${BETWEEN}*0*(?<week>[1-9]\\d?)`,
  `${YEAR}(?:${BETWEEN}+|${BETWEEN}*m${BETWEEN}*)${MONTH}`,
  `${MONTH}${BETWEEN}+${YEAR}`,
  `${YEAR}${TWO_DIGITS}`,
  `${TWO_DIGITS}${YEAR}`,
  `${YEAR}${BETWEEN}*${NAME}`,
  `${NAME}${BETWEEN}*(?<year>(?:19|20)?\\d\\d)`,
]

let compiled: { readonly periods: readonly RegExp[]; readonly number: RegExp } | undefined
/** Classes of letters take milliseconds to compile, and few commands have a run key. */
function patterns() {
  compiled ??= { periods: PERIODS.map(ALONE), number: ALONE('\\d+') }
  return compiled
}

/**
 * Equal for two spellings of one key. `nowMs`: the name of a month alone is that of the nearest one. What is no month, week or day stays as it
 * is, but for letter case: there a sign or a zero may be all that two keys differ in.
 */
export function runKeyForm(key: string, nowMs: number): string {
  const plain = key.normalize('NFC').trim().toLowerCase()
  const alone = monthNamed(plain)
  if (alone !== null) return nearest(alone, nowMs)
  if (!/\d/.test(plain)) return plain
  const { periods, number } = patterns()
  for (const period of periods) {
    const found = period.exec(plain)
    const form = found === null ? null : formOf(found.groups ?? {})
    if (found === null || form === null) continue
    const before = plain.slice(0, found.index).replace(new RegExp(`${BETWEEN}+$`), '-')
    const after = plain.slice(found.index + found[0].length).replace(new RegExp(`^${BETWEEN}+`), '-')
    // With a further number it may be anything: the third part of 2026, or the first of December.
    return number.test(`${before} ${after}`) ? plain : `${before}${form}${after}`
  }
  return plain
}

const DAY_MS = 86_400_000
/** A run may be late, and its key ahead of the time where its host is. */
const LATE_MS = 5 * DAY_MS

/** Whether the key is of a month that was over days ago. */
export function isMonthOver(key: string, nowMs: number): boolean {
  const month = monthOf(key, nowMs)
  return month !== null && nowMs > month.endMs + LATE_MS
}

function monthOf(key: string, nowMs: number) {
  const found = periodOf(key, nowMs)
  return found?.farMs === FAR_MONTH_MS ? found : null
}

/** In January many write last year's number. */
const FAR_MONTH_MS = 40 * DAY_MS
const FAR_WEEK_MS = 20 * DAY_MS

/** A month or a week. `farMs`: at that distance nobody would begin to charge for it. */
function periodOf(key: string, nowMs: number) {
  const [, inYear, isWeek, number] = /^(?:.*-)?(\d{4})-(w?)(\d{1,2})$/.exec(runKeyForm(key, nowMs)) ?? []
  if (inYear === undefined) return null
  const [year, nth] = [Number(inYear), Number(number)]
  if (isWeek === '') return { year, startMs: Date.UTC(year, nth - 1), endMs: Date.UTC(year, nth), farMs: FAR_MONTH_MS }
  const first = new Date(Date.UTC(year, 0, 4)) // is always in the first week, which begins with a Monday
  const startMs = first.getTime() + (nth * 7 - 7 - ((first.getUTCDay() + 6) % 7)) * DAY_MS
  return { year, startMs, endMs: startMs + 7 * DAY_MS, farMs: FAR_WEEK_MS }
}

/** Whether the key is of a month or week of a year that nobody would begin to charge for now; or of a week that its year does not have. */
export function isPeriodFar(key: string, nowMs: number): boolean {
  const found = /\d{4}/.test(key) ? periodOf(key, nowMs) : null
  if (found === null) return false
  const { year, startMs, endMs, farMs } = found
  return nowMs > endMs + farMs || nowMs < startMs - farMs || new Date((startMs + endMs) / 2).getUTCFullYear() !== year
}

/** Whether one of two keys is a month, and the other one the same beside something: a day, or a word as in `2026-12-final` or `r2026-12`. */
export function isSameMonth(one: string, other: string, nowMs: number): boolean {
  const [short = '', long = ''] = [runKeyForm(one, nowMs), runKeyForm(other, nowMs)].sort((a, b) => a.length - b.length)
  const [before = '', behind] = long.split(short)
  return monthOf(short, nowMs) !== null && behind !== undefined && !/\d$/.test(before) && !/^\d/.test(behind)
}

/** In the name of a file, of a sheet or of a run. */
function monthIn(text: string, nowMs: number): string | null {
  return /(?<!\d)\d{4}-\d{1,2}(?![\d-])/.exec(runKeyForm(text.replace(/\.\w{1,5}$/, ''), nowMs))?.[0] ?? null
}

/**
 * The run, among those for which the same bytes are recorded, of whose month the texts of a file speak, and not of its own month: it is that
 * month's file. A roster that stays the same speaks of none, or of the month in which it was made: then it was run for another one, too.
 * null: there is none.
 */
export function runSpokenOf(
  texts: readonly string[],
  own: string,
  runs: readonly string[],
  nowMs: number,
): string | null {
  const months = texts.map((text) => monthIn(text, nowMs))
  const isSpokenOf = (run: string) => months.includes(monthIn(run, nowMs))
  const monthly = runs.filter((run) => monthIn(run, nowMs) !== null)
  return !isSpokenOf(own) && monthly.every(isSpokenOf) ? (monthly[0] ?? null) : null
}

/** For the producer of a message. */
export function otherSpellingText(known: string): string {
  return `run_key: is another spelling of ${known}, under which rows are recorded; spell it so, or use a key of its own`
}

function formOf({ year = '', month, day, week, name }: Readonly<Record<string, string | undefined>>): string | null {
  if (week !== undefined) return `${year}-w${week}`
  const number = name === undefined ? Number(month) : monthNamed(name)
  if (number === null) return null
  const inFull = year.length === 2 ? `20${year}` : year
  return `${inFull}-${number}${day === undefined ? '' : `-${Number(day)}`}`
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
