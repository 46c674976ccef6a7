// A card: its details, which live only between a file and the gateway's socket, and what may be kept of them.

/** As sent. Nothing else holds it: no ledger, queue, log or temporary file. */
export interface CardDetails {
  /** Digits alone. */
  readonly number: string
  /** The security code, 3 or 4 digits. */
  readonly code: string
  readonly expiry: CardExpiry
}

export interface CardExpiry {
  /** 01 to 12. */
  readonly month: string
  /** Four digits. */
  readonly year: string
}

/** What may be kept of a card, and tells two cards apart for people. */
export interface CardMask {
  /** The first six digits. */
  readonly bin: string
  readonly lastFour: string
  readonly expiry: CardExpiry
}

export function maskOf({ number, expiry }: CardDetails): CardMask {
  return { bin: number.slice(0, 6), lastFour: number.slice(-4), expiry }
}

/** `411111-1111-12/2028`: as content and look-alikes compare it, and as the ledger holds it. */
export function formatCardMask({ bin, lastFour, expiry }: CardMask): string {
  return `${bin}-${lastFour}-${formatExpiry(expiry)}`
}

/** What `formatCardMask` wrote. */
export function parseCardMask(text: string): CardMask {
  const [bin = '', lastFour = '', expiry = ''] = text.split('-')
  const [month = '', year = ''] = expiry.split('/')
  return { bin, lastFour, expiry: { month, year } }
}

/** MM/YYYY, as the transaction endpoint takes it. */
export function formatExpiry({ month, year }: CardExpiry): string {
  return `${month}/${year}`
}

/** `411111******1111 12/2030`, for people. */
export function cardText({ bin, lastFour, expiry }: CardMask): string {
  return `${bin}******${lastFour} ${formatExpiry(expiry)}`
}
