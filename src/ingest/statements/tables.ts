// What is asked about: tables of the names of columns, of the cells in them, and of what becomes of the file then.

import { OPERATIONS, type Operation } from '../../domain/instruction.ts'
import { type Text, words } from '../../domain/words.ts'
import * as LISTS from './words.ts'

// ───────────────────────────────────────────────────────────── Operations

/** Beside which operations a file is refused for what is said, and beside which others it is noted. */
export interface EffectOn {
  readonly refused?: readonly Operation[]
  readonly noted?: readonly Operation[]
  /** Beside these, which it may be said of, neither. */
  readonly unless?: readonly Operation[]
}

/** They take money, or hold it. */
const SALES = ['CAPTURE', 'AUTH', 'CAUTH'] as const

export type Effect = keyof typeof EFFECTS
export const EFFECTS = {
  refused: { refused: OPERATIONS },
  noted: { noted: OPERATIONS },
  'refused of sales': { refused: SALES },
  'refused of new sales': { refused: ['CAPTURE', 'AUTH'] },
  'refused of captures': { refused: ['CAUTH'] },
  'refused of refunds': { refused: ['REFUND'] },
  'refused of others than refunds': { refused: [...SALES, 'CANCEL'] },
  'refused without refunds': { refused: [...SALES, 'CANCEL'], unless: ['REFUND'] },
  'refused of refunds and voids, else noted': { refused: ['REFUND', 'CANCEL'], noted: SALES },
  /** What is paid already is what is to be refunded or voided. */
  'noted of sales': { noted: SALES },
} as const satisfies Readonly<Record<string, EffectOn>>

// ───────────────────────────────────────────────────────────── Of names and amounts

/** By the words of a name: it has one of each of these lists, and none of those. */
export interface OfName {
  readonly has?: readonly RegExp[]
  readonly lacks?: readonly RegExp[]
}

/** The first that a name has. Words are read in small letters, and the others as they are written. */
export const SCALES = [
  {
    says: 'multiples',
    words: LISTS.MULTIPLES,
    others: [LISTS.THOUSANDFOLD, LISTS.MULTIPLE_OF_CURRENCY],
    what: 'thousands or millions, and they would be read as they stand',
    remedy: 'write the amounts out in the file',
  },
  {
    says: 'minor units',
    words: LISTS.MINOR_UNITS,
    others: [LISTS.HUNDREDFOLD],
    what: 'in minor units, such as cents, and they would be read as whole units',
    remedy: words`to have them read as minor units: ${{ set: 'scale', to: 'minor' }}`,
  },
] as const

/** No row of these operations has a larger amount. */
export const SUMS: readonly { readonly names: RegExp; readonly operations: readonly Operation[] }[] = [
  { names: LISTS.ORDER_SUM_NAMES, operations: ['REFUND', 'CAUTH'] },
  { names: LISTS.PAID_SUM_NAMES, operations: ['REFUND'] },
]

/** The first that fits. A due day beside refunds is that of the invoice. `needsBoth`: a day that may be read in two ways must be told of in both. */
export const DAY_NAMES: readonly {
  readonly names: RegExp
  readonly isEnd: boolean
  readonly needsBoth?: true
  readonly where?: 'all' | 'some'
  readonly effect: Effect
}[] = [
  { names: LISTS.DUE_NAMES, isEnd: false, effect: 'refused of sales' },
  { names: LISTS.LATER_NAMES, isEnd: false, effect: 'refused' },
  { names: LISTS.BEGIN_NAMES, isEnd: false, effect: 'refused of new sales' },
  { names: LISTS.ENDED_NAMES, isEnd: true, effect: 'refused of new sales' },
  { names: LISTS.END_NAMES, isEnd: true, where: 'some', effect: 'refused of new sales' },
  { names: LISTS.BARE_NAMES, isEnd: false, where: 'all', needsBoth: true, effect: 'refused' },
]

// ───────────────────────────────────────────────────────────── Of progress

/** What the cell of a column of progress says: the first that has it, with the nouns above or without. */
export const CLASSES = [
  ['of a booking', LISTS.PLAIN],
  ['not done', LISTS.NOT_DONE],
  ['done', new Set([...LISTS.DONE, ...LISTS.PAID])],
  ['a tick', LISTS.TICKS],
] as const

/** What a column of progress is by its name. A `state` is one where its words are of progress, and of `any` only words of progress and ticks count. */
export type Meaning = 'status' | 'state' | 'flag' | 'paid' | 'trace' | 'id' | 'payment' | 'any'

/** The first that fits. null: of the progress of another thing, or of a quantity. */
export const MEANINGS: readonly (OfName & { readonly meaning: Meaning | null })[] = [
  { lacks: [LISTS.STATUS, LISTS.DONE_NAMES, LISTS.PAID_NAMES, LISTS.UNDOINGS, LISTS.STATES], meaning: 'any' },
  { lacks: [LISTS.STATUS, LISTS.DONE_NAMES, LISTS.PAID_NAMES, LISTS.UNDOINGS], meaning: 'state' },
  { has: [LISTS.OTHER_THINGS], meaning: null },
  { has: [LISTS.STATUS], lacks: [LISTS.MOMENTS, LISTS.ENDS_IN_QUANTITY], meaning: 'status' },
  { has: [LISTS.STATUS], meaning: null },
  { has: [LISTS.QUANTITIES], meaning: null },
  { lacks: [LISTS.DONE_NAMES, LISTS.UNDOINGS, LISTS.MOMENTS, LISTS.IDS, LISTS.METHOD_NAMES], meaning: 'paid' },
  { lacks: [LISTS.DONE_NAMES, LISTS.UNDOINGS], meaning: 'payment' },
  { has: [LISTS.IDS], meaning: 'id' },
  { has: [LISTS.MOMENTS], meaning: 'trace' },
  { has: [LISTS.DONE_NAMES], meaning: 'flag' },
  { has: [LISTS.PAID_NAMES], meaning: 'paid' },
  { has: [LISTS.STATES], meaning: 'state' },
]

/** A set has cells without blanks and accents, and a test reads them as they are written. */
export type Cells = ReadonlySet<string> | { test(cell: string): boolean }

/** Moments, ids and amounts differ from row to row, and what counts is that there is one: which cells are compared as they are. */
export const COMPARED: Readonly<Record<Meaning, RegExp>> = {
  ...{ status: /^/, state: /^/, any: /^/, flag: /^(?:0+|1|\D*)$/, paid: /^(?:0+|1|\D*)$/ },
  ...{ trace: /^$/, id: /^$/, payment: /^$/ },
}

/** Where every cell says the same: what says that all rows are done. */
export const ALL_DONE: Readonly<Record<Meaning, readonly Cells[]>> = {
  ...{
    status: [LISTS.DONE],
    state: [LISTS.DONE],
    flag: [LISTS.DONE, LISTS.YES, LISTS.DAY],
    trace: [LISTS.DAY],
    payment: [LISTS.DAY],
  },
  ...{ paid: [], id: [], any: [] },
}

// ───────────────────────────────────────────────────────────── Of what rows tell

/** With yes and no, or one of them beside nothing: what has ended or rests, was sent out, came back, or is disputed. */
const ANSWER_NAMES: readonly { readonly names: RegExp; readonly effect: Effect }[] = [
  {
    effect: 'refused of new sales',
    names: LISTS.nameOf(
      '(?:is |has )?(?:cancel(?:l?ed)?|terminated|churned|unsubscribed|left|resigned|frozen|on leave|exempt)|gekundigt|ausgetreten|beitragsfrei|ruhend|resiliee?|cancelad[oa]|disdett[oa]|opgezegd',
      '(?:mandate|sepa mandate|direct debit) (?:active|valid|given|signed)|(?:customer )?consent(?: given)?|einwilligung',
    ),
  },
  {
    effect: 'refused of captures',
    names: LISTS.nameOf(
      '(?:is |was |order |goods )?(?:shipped|dispatched|despatched|fulfill?ed|delivered)|versandt|versendet|verschickt|ausgeliefert|geliefert|expediee?|livree?',
      'enviad[oa]|entregad[oa]|spedit[oa]|consegnat[oa]|verzonden|geleverd|wysłan[eoay]|dostarczon[eoay]',
    ),
  },
  {
    effect: 'refused of refunds',
    names: LISTS.nameOf(
      '(?:is |was |goods |items? |return |parcel )?(?:received|returned|back)|(?:retoure|ware|rucksendung|artikel) (?:erhalten|eingegangen|zuruck)|zuruckerhalten|retoure?e?|retour recu|recue?',
      '(?:is |has |in )?(?:chargebacks?|charge back|disputed?)|ruckbuchung|rucklastschrift|(?:en )?litige|contracargo|contestat[oa]',
    ),
  },
]

/** What the cells of a column tell of its rows. An empty cell is on the side ''. */
export interface Rule extends OfName {
  readonly effect: Effect
  /** The column does. `LINES`: all of the first cell that is told. */
  readonly what: string
  /** The first that has the cell. `each`: every such cell is a side of its own. */
  readonly sides: readonly (readonly [side: string, cells: Cells])[]
  /** The side of other cells; null: no such column has one. */
  readonly others: '' | null
  /** The sides that must be there; or any two. */
  readonly told: readonly string[] | 'two' | 'two that are filled'
  /** Only where all cells are on one side, or some are not. */
  readonly where?: 'all' | 'some'
  /** A column with more sides is none of these. */
  readonly most?: number
  /** Of several columns of such names, if a person spoke of none of them. */
  readonly several?: true
  /** Of columns that are read so. Absent: of those that are not. */
  readonly readAs?: readonly ReadAs[]
  readonly accounts?: 'live'
  /** Only beside an amount that nobody chose: which column is meant. */
  readonly asksWhich?: true
  /** Before, behind or in place of the usual remedy. */
  readonly lead?: Text
  readonly end?: Text
  readonly remedy?: Text
}

/** `text`: any that is passed on. */
export type ReadAs = 'unread' | 'reference' | 'transaction_type' | 'amount' | 'text'

const ANYTHING = /./su
/** A lone 1 says yes as often as not. */
const NO_AMOUNT = /^(?:[01]?|0[.,]0+)$/
const AMOUNT = /^(?:[A-Z]{3}|\p{Lu}{0,2}\p{Sc}|zł|Kč|kr|Ft)?\s?\d[\d.,'’\s]*(?:[A-Z]{3}|\p{Sc}|zł|Kč|kr|Ft)?$/u

const OF_TESTS = {
  accounts: 'live',
  effect: 'refused',
  what: 'says that rows are for tests, and the account is live',
  others: '',
  told: ['test'],
} as const
const OF_FARES = { effect: 'refused of refunds', what: 'says that rows are not refundable', others: null } as const
const DECIDES = { what: 'decides which rows are meant', others: null } as const
const OF_WAYS = {
  effect: 'refused',
  what: 'says by which way the money of a row is to go',
  others: null,
  told: 'two that are filled',
  most: 12,
} as const

function sidesOf([yes, no]: LISTS.Pair): Rule['sides'] {
  return [
    ['yes', yes],
    ['no', no],
  ]
}

const TO_REFUND = words`if they are to be refunded, say so: ${{ set: 'operation', to: 'REFUND' }}; if they are not, `
const OF_CREDITS = {
  effect: 'refused without refunds',
  what: 'says that rows are refunds or payouts',
  told: ['credit'],
  lead: TO_REFUND,
} as const

/** By its name a column says it of all rows, if it has something in each. */
const OF_REFUNDS = {
  effect: 'refused of others than refunds',
  what: 'says that rows are refunds',
  has: [LISTS.REFUND_STEMS],
  sides: [['filled', ANYTHING]],
  others: '',
  told: ['filled'],
  where: 'all',
  lead: TO_REFUND,
} as const
const ASKS_WHICH = {
  asksWhich: true,
  what: 'has amounts',
  sides: [
    ['', NO_AMOUNT],
    ['amount', AMOUNT],
  ],
  others: null,
  told: ['amount'],
} as const

/** Whether a sale may be refunded is no matter of other rows. */
const BY_SALE = [
  { has: [LISTS.REFUND_STATES], lacks: [], effect: 'refused of refunds' },
  { has: [], lacks: [LISTS.REFUND_STATES], effect: 'refused' },
] as const

/** The first that tells something is told of the column. */
export const RULES: readonly Rule[] = [
  // Of amounts that are to be refunded, or are due.
  {
    ...ASKS_WHICH,
    effect: 'refused of refunds',
    has: [LISTS.REFUND_STEMS],
    lacks: [LISTS.REFUND_STATES, LISTS.NO_REFUNDS, LISTS.FEES],
  },
  {
    ...ASKS_WHICH,
    effect: 'refused',
    has: [LISTS.DUE_AMOUNT_NAMES],
    lacks: [LISTS.REFUND_STEMS, LISTS.REFUND_STATES, LISTS.NO_REFUNDS, LISTS.FEES],
  },
  {
    ...OF_TESTS,
    has: [LISTS.nameOf('(?:is )?(?:live|prod|production)(?: ?mode)?')],
    sides: [['test', LISTS.ANSWERS[1]]],
  },
  { ...OF_TESTS, has: [LISTS.nameOf('(?:is )?(?:test|sandbox|demo)(?: ?mode)?')], sides: [['test', LISTS.ANSWERS[0]]] },
  {
    ...OF_TESTS,
    has: [LISTS.nameOf('env|mode', '(?:\\w+ )?(?:environment|umgebung|environnement|entorno|ambiente|omgeving)')],
    sides: [['test', LISTS.TESTS]],
  },
  // Beside a fare that is not refundable stand others, whatever they are called.
  {
    ...OF_FARES,
    told: ['none'],
    sides: [
      ['none', LISTS.NOT_REFUNDABLE],
      ['each', /^\D+$/],
    ],
  },
  {
    ...OF_FARES,
    has: [LISTS.REFUNDABLE_NAMES],
    lacks: [LISTS.NOT_REFUNDABLE_NAMES],
    sides: sidesOf(LISTS.ANSWERS),
    told: ['no'],
  },
  { ...OF_FARES, has: [LISTS.NOT_REFUNDABLE_NAMES], sides: sidesOf(LISTS.ANSWERS), told: ['yes'] },
  ...LISTS.DECISIONS.flatMap((pair) =>
    BY_SALE.map(
      (of): Rule => ({
        ...{
          ...DECIDES,
          ...of,
          sides: sidesOf(pair),
          told: ['yes', 'no'],
          readAs: ['unread', 'transaction_type', 'text'],
        },
      }),
    ),
  ),
  // By the name of its column one side is enough, beside nothing.
  ...[...LISTS.DECISIONS, LISTS.ANSWERS].flatMap((pair) =>
    BY_SALE.map(({ has, lacks, effect }): Rule => {
      const named = new RegExp(`${LISTS.DECISION_NAMES.source}|${LISTS.DECISION_STEMS.source}`, 'u')
      return {
        ...DECIDES,
        effect,
        has: [named, ...has],
        lacks: [LISTS.OTHER_THINGS, ...lacks],
        sides: sidesOf(pair),
        told: 'two',
      }
    }),
  ),
  ...ANSWER_NAMES.map(
    ({ names, effect }): Rule => ({ ...DECIDES, effect, has: [names], sides: sidesOf(LISTS.ANSWERS), told: 'two' }),
  ),
  // Cards are one way, whatever their brand. By its name a column may hold ways that no list knows.
  {
    ...OF_WAYS,
    has: [LISTS.METHOD_NAMES],
    sides: [
      ['each', LISTS.OTHER_METHODS],
      ['card', LISTS.CARDS],
      ['card', LISTS.CARD_WORDS],
      ['extent', LISTS.EXTENTS],
      ['each', ANYTHING],
    ],
  },
  {
    ...OF_WAYS,
    lacks: [LISTS.METHOD_NAMES],
    sides: [
      ['each', LISTS.OTHER_METHODS],
      ['card', LISTS.CARDS],
      ['card', LISTS.CARD_WORDS],
    ],
  },
  {
    ...OF_CREDITS,
    has: [LISTS.CREDIT_NOTE_NAMES],
    others: '',
    sides: [
      ['', LISTS.ANSWERS[1]],
      ['credit', ANYTHING],
    ],
  },
  { ...OF_CREDITS, others: null, sides: [['credit', LISTS.CREDITED]], readAs: ['unread', 'transaction_type'] },
  // A list of sales has few that were refunded.
  { ...OF_REFUNDS, lacks: [LISTS.REFUND_STATES, LISTS.NO_REFUNDS], several: true },
  { ...OF_REFUNDS, readAs: ['amount'] },
  // What is noted in all rows tells none apart.
  {
    effect: 'refused',
    what: 'says in LINES that a row is not to be sent',
    lacks: [LISTS.REASONS],
    sides: [['no', { test: LISTS.saysNotToSend }]],
    others: '',
    told: ['no'],
    where: 'some',
  },
]
