// Numbers that name their own kind by their form: phone numbers, IBANs, UUIDs, hashes, order ids, tracking numbers. They are
// no card numbers, whatever digits they have.

export interface Place {
  readonly from: number
  readonly to: number
}

const UUID = /(?<![0-9a-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-z])/gi
const SHORTEST_HASH = 32
const HASH = /(?<![0-9a-z])[0-9a-f]{32,128}(?![0-9a-z])/gi
/** An order id of Amazon, and a parcel number of USPS as it is printed. */
const FORMS = /(?<!\d)(?:\d{3}-\d{7}-\d{7}|9[1-5]\d\d(?: \d{4}){4} \d\d)(?!\d)/g
const IBAN_HEAD = /(?<![0-9a-z])([a-z]{2})\d\d/gi
const LONGEST_IBAN = 34
/** Fewer digits are no phone number that is written for all countries, more are none either (E.164). */
const PHONE_DIGITS = { least: 7, most: 15 } as const

/** Where such numbers are, in no order. Each character is looked at a bounded number of times. */
export function placesOfOtherNumbers(text: string): Place[] {
  const places: Place[] = []
  const add = (at: number, length: number) => places.push({ from: at, to: at + length })
  if (text.length >= SHORTEST_HASH) {
    for (const { 0: uuid, index } of text.matchAll(UUID)) if (/[a-f]/i.test(uuid)) add(index, uuid.length)
    // Digits with letters at both ends have two runs of letters, a hash has dozens.
    for (const { 0: hash, index } of text.matchAll(HASH))
      if ((hash.match(/[a-f]+/gi)?.length ?? 0) > 3) add(index, hash.length)
  }
  for (const { 0: form, index } of text.matchAll(FORMS)) add(index, form.length)
  for (const { 1: country, index } of text.matchAll(IBAN_HEAD)) {
    const length = ibanLength(text, index, IBAN_LENGTHS[(country as string).toUpperCase()] ?? 0)
    if (length !== null) add(index, length)
  }
  for (let at = text.indexOf('+'); at !== -1; at = text.indexOf('+', at + 1)) {
    const length = phoneLength(text, at)
    if (length !== null) add(at, length)
  }
  return places
}

/** How many characters the IBAN at this place takes, in one piece or in groups; null: its check digits do not fit. */
function ibanLength(text: string, at: number, wanted: number): number | null {
  let found = 0
  for (let i = at; i < text.length && i < at + 2 * LONGEST_IBAN && found < wanted; i++) {
    const code = text.charCodeAt(i)
    if (isWordCode(code)) found += 1
    else if (!isBetween(code)) return null
    if (found < wanted) continue
    if (isWordCode(text.charCodeAt(i + 1))) return null
    return isIban(text.slice(at, i + 1).replace(/[^0-9a-z]/gi, '')) ? i + 1 - at : null
  }
  return null
}

/** An ASCII letter or digit. */
function isWordCode(code: number): boolean {
  return isDigitCode(code) || ((code | 0x20) > 0x60 && (code | 0x20) < 0x7b)
}

function isDigitCode(code: number): boolean {
  return code > 0x2f && code < 0x3a
}

/** A space or a dash, also those of documents. */
function isBetween(code: number): boolean {
  return code === 0x20 || code === 0x2d || code === 0xa0 || (code > 0x1fff && code < 0x2016) || code === 0x202f
}

function isIban(compact: string): boolean {
  let rest = 0
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** How many characters the phone number behind this plus takes; null: it is none, or a card number behind a plus. */
function phoneLength(text: string, at: number): number | null {
  // `1+4111…` is a sum.
  if (isWordCode(text.charCodeAt(at - 1))) return null
  let digits = ''
  let end = at
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (isDigitCode(code)) {
      digits += text[i]
      end = i + 1
      if (digits.length > PHONE_DIGITS.most) return null
    } else if (i - end > 2 || !(isBetween(code) || PHONE_SIGNS.includes(text.charAt(i)))) break
  }
  if (digits.length < PHONE_DIGITS.least) return null
  // No country's numbers are that long behind these digits: cards of 15 and of 14 digits are.
  if (/^3[47]\d{13}$|^3[0689]\d{12}$/.test(digits)) return null
  return end - at
}

const PHONE_SIGNS = '()./'

/** Whether the check digit of an article number (EAN-13, UPC-A) fits. */
export function isArticleNumber(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) sum += Number(digits[digits.length - 1 - i]) * (i % 2 === 1 ? 3 : 1)
  return sum % 10 === 0
}

/** Characters of an IBAN by country, as the registry of SWIFT has them (release 98 of 2024). */
const IBAN_LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)
