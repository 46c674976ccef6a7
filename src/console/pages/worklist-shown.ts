// A worklist that was filled in, as its page shows it: what would be recorded and what that means, what would not and why, and what is.

import type { FastifyRequest } from 'fastify'
import type { Planned, WorklistEntry } from '../../app/worklist.ts'
import type { Total } from '../../domain/batch.ts'
import type { DoubtRow, Foreseen, Proposal } from '../../domain/doubt.ts'
import type { RowFault } from '../../domain/draft.ts'
import type { BatchId } from '../../domain/ids.ts'
import type { HistoryMove } from '../../domain/reconciliation.ts'
import { FINDINGS, type Finding, stateOfFinding } from '../../domain/resolution.ts'
import { statusOf } from '../../domain/states.ts'
import type { Text } from '../../domain/words.ts'
import { askedText } from '../../present/asked.ts'
import { FINDING_NAMES, meaningOf } from '../../present/findings.ts'
import { type Html, html } from '../../present/html.ts'
import { amountText, capital, plural } from '../../present/text.ts'
import type { ConsoleDoor } from '../door.ts'
import { form, freshly, idText, moment, NOTHING, note, reasonField, stateText, table } from '../parts.ts'
import { doubtPath, instructionPath, worklistPath } from '../paths.ts'
import { typedIn } from '../refused.ts'
import { linked } from '../ways.ts'

export interface FilledIn {
  readonly id: string
  /** Of lines that say nothing yet. */
  readonly open: number
  readonly planned: readonly Planned[]
}

export function uploadForm(request: FastifyRequest, door: ConsoleDoor): Html {
  const fields = html`<div class="field"><label>The worklist, filled in<span class="hint"> The CSV file as it was downloaded here, with its last three columns filled in. Without card numbers.</span><input type="file" name="file" required accept=".csv,.txt,text/csv"></label></div>`
  const asked = form(request, door, {
    ...{ action: '/doubts/worklists', fields, button: 'Show what the file would change', hasFile: true },
  })
  return html`<h2>Record what was found, from a file</h2><p>Nothing is recorded before you have seen what the file would change.</p>${asked}`
}

const FAULTS = [
  { name: 'Line', kind: 'number' },
  { name: 'Column', kind: 'text' },
  { name: 'Value', kind: 'text' },
  { name: 'What is wrong', kind: 'text' },
  { name: 'What to do', kind: 'text' },
] as const
const FAULTS_MOST = 100

export function faultyLines(faults: readonly RowFault[]): Html {
  const rows = faults
    .slice(0, FAULTS_MOST)
    .map(({ line, column, value, problem, remedy }) => [
      ...[html`${line}`, html`${column}`, html`${value}`, html`${problem}`, html`${remedy}`],
    ])
  const more =
    faults.length > FAULTS_MOST ? html`<p>These are the first ${FAULTS_MOST} of ${faults.length}.</p>` : NOTHING
  const said = faults.length === 1 ? 'A line of the file is wrong.' : `${faults.length} lines of the file are wrong.`
  return html`<p>${said} Mend ${faults.length === 1 ? 'it' : 'them'}, and choose the file again.</p>${table('What is wrong in the file', FAULTS, rows)}${more}`
}

// ───────────────────────────────────────────────────────────── What it would change

interface Would {
  readonly entry: WorklistEntry
  readonly doubt: DoubtRow
  /** That it be sent again takes another person, too. */
  readonly isProposal: boolean
}
interface WouldNot {
  readonly entry: WorklistEntry
  readonly reason: Text
}
/** Somebody's word, also of who looks: nothing is sent by it alone. */
interface Proposed {
  readonly entry: WorklistEntry
  readonly row: { readonly batchId: BatchId; readonly rowNo: number }
  readonly proposal: Proposal
}
/** A person found that, of that attempt. */
interface Recorded {
  readonly entry: WorklistEntry
  readonly move: HistoryMove
  /** Its last. */
  readonly now: HistoryMove
}

export async function plannedShown(door: ConsoleDoor, request: FastifyRequest, list: FilledIn): Promise<Html> {
  const would: Would[] = []
  const proposed: Proposed[] = []
  const wouldNot: WouldNot[] = []
  const recorded: Recorded[] = []
  for (const { entry, foreseen } of list.planned) {
    if (foreseen.kind === 'would-resolve' || foreseen.kind === 'would-propose')
      would.push({ entry, doubt: foreseen.doubt, isProposal: foreseen.kind === 'would-propose' })
    else if (foreseen.kind === 'proposed') proposed.push({ entry, row: foreseen, proposal: foreseen.proposal })
    else {
      const found = await recordedOf(door, entry, foreseen)
      if (found === null) wouldNot.push({ entry, reason: whyNot(foreseen) })
      else recorded.push({ entry, ...found })
    }
  }
  const counts = [
    ...(would.length === 0 ? [] : [`${plural(would.length, 'line')} would be recorded`]),
    ...(recorded.length === 0 ? [] : [`${recorded.length} recorded`]),
    ...(proposed.length === 0 ? [] : [`${proposed.length} proposed`]),
    ...(wouldNot.length === 0 ? [] : [`${wouldNot.length} not recorded`]),
    ...(list.open === 0 ? [] : [`${list.open} left blank`]),
  ]
  const head = html`<p class="head">${capital(counts.join(' · '))}</p>`
  const nothing = recorded.length + proposed.length > 0 ? NOTHING : html`<p>Nothing has been recorded yet.</p>`
  return html`${head}${nothing}${recordedTable(recorded)}${proposedTable(proposed)}${refusedTable(wouldNot)}${wouldShown(door, request, list.id, would)}<p><a href="/doubts">Back to the doubts</a></p>`
}

function whyNot(foreseen: Exclude<Foreseen, { kind: 'would-resolve' | 'would-propose' | 'proposed' }>): Text {
  return foreseen.kind === 'refused'
    ? foreseen.reason
    : `It is ${statusOf(foreseen.state)} already, and no person found that`
}

/** null: nobody found so of that row and attempt. */
async function recordedOf(
  { ledger }: ConsoleDoor,
  { reference, row, attempt, finding }: WorklistEntry,
  foreseen: Foreseen,
): Promise<Omit<Recorded, 'entry'> | null> {
  const meant = row ?? (foreseen.kind === 'already' ? foreseen : null)
  if (meant === null) return null
  const moves = (await ledger.history(reference)).filter(
    ({ batchId, rowNo }) => batchId === meant.batchId && rowNo === meant.rowNo,
  )
  const to = stateOfFinding(finding)
  const move = moves.findLast((one) => one.cause === 'resolve' && one.attempt === attempt && one.to === to)
  const now = moves.at(-1)
  return move === undefined || now === undefined ? null : { move, now }
}

const WOULD = [
  { name: 'Line', kind: 'number' },
  { name: 'Reference', kind: 'word' },
  { name: 'Merchant' },
  { name: 'Amount', kind: 'number' },
  { name: 'Attempt', kind: 'number' },
  { name: 'Found', kind: 'text' },
  { name: 'Transaction id', kind: 'word' },
  { name: 'What it means', kind: 'text' },
  { name: 'Reason', kind: 'text' },
] as const

const PROPOSED =
  'This takes two people: it is proposed, and nothing is sent before another person confirms it at the page of the doubt.'

function wouldShown(door: ConsoleDoor, request: FastifyRequest, file: string, would: readonly Would[]): Html {
  if (would.length === 0) return NOTHING
  const rows = would.map(({ entry, doubt, isProposal }) => [
    html`${entry.line}`,
    html`<a class="id" href="${doubtPath(doubt.rowId)}">${doubt.instruction.reference}</a>`,
    html`${doubt.merchant}`,
    html`${amountOf(doubt)}`,
    html`${entry.attempt}`,
    html`${FINDING_NAMES[entry.finding]}`,
    entry.transactionId === null ? NOTHING : idText(entry.transactionId),
    html`${isProposal ? PROPOSED : meaningOf(entry.finding, doubt)}`,
    entry.reason === '' ? html`<em>the one below</em>` : html`${entry.reason}`,
  ])
  const shown = would
    .map((one) =>
      [one.entry.line, one.doubt.rowNo, one.isProposal ? 'proposes' : 'records', one.doubt.batchId].join('.'),
    )
    .join(' ')
  const reason = would.some(({ entry }) => entry.reason === '')
    ? reasonField(
        'For the lines that give none: what was found, and where. It is kept in the history.',
        typedIn(request, `${worklistPath(file)}/record`),
      )
    : NOTHING
  const asked = () =>
    form(request, door, {
      action: `${worklistPath(file)}/record`,
      fields: html`<input type="hidden" name="shown" value="${shown}">${reason}`,
      button: buttonOf(would),
    })
  const isAgain = would.some(({ entry }) => entry.finding === 'send-again')
  return html`<h2>What would be recorded</h2>${totalsTable(would)}${table('Each line, and what it means', WOULD, rows)}${note('plain', html`<p>Each line is recorded by itself. A row that somebody resolves before you press the button, or that is sent again, stays as it is; the others are recorded.</p>`)}${isAgain ? freshly(request, worklistPath(file), asked) : asked()}`
}

function amountOf({ instruction: { money } }: DoubtRow): string {
  return money === null ? '' : `${amountText(money.amountMinor, money.currency)} ${money.currency}`
}

function totalOf({ doubt }: Would): Total {
  const { operation, money } = doubt.instruction
  return { operation, count: 1, currency: money?.currency ?? '', amountMinor: money?.amountMinor ?? 0n }
}

function totalsTable(would: readonly Would[]): Html {
  const named = ({ entry: { finding }, isProposal }: Would) =>
    isProposal ? 'It is not there: propose to send it once more' : FINDING_NAMES[finding]
  const byName = Map.groupBy(
    would.toSorted((a, b) => FINDINGS.indexOf(a.entry.finding) - FINDINGS.indexOf(b.entry.finding)),
    named,
  )
  const rows = [...byName].map(([name, of]) => [html`${name}`, html`${askedText(of.map(totalOf))}`])
  return table('Together', [{ name: 'Found' }, { name: 'Rows and amounts', kind: 'text' }], rows)
}

/** What is sent once more is no finding alone, and is said by its name. */
function buttonOf(would: readonly Would[]): string {
  const isAgain = ({ entry }: { entry: { finding: Finding } }) => entry.finding === 'send-again'
  const said = (act: string, of: readonly Would[], then = '') =>
    of.length === 0 ? [] : [`${act} ${askedText(of.map(totalOf))}${then}`]
  const acts = [
    ...said(
      'record what was found about',
      would.filter((one) => !isAgain(one)),
    ),
    ...said(
      'send',
      would.filter((one) => isAgain(one) && !one.isProposal),
      ', once more',
    ),
    ...said(
      'propose to send',
      would.filter(({ isProposal }) => isProposal),
      ', once more',
    ),
  ]
  return capital(acts.join(', and '))
}

// ───────────────────────────────────────────────────────────── What is refused, and what is recorded

const REFUSED = [
  { name: 'Line', kind: 'number' },
  { name: 'Reference', kind: 'word' },
  { name: 'Found', kind: 'text' },
  { name: 'Why it is not recorded', kind: 'text' },
] as const

function refusedTable(refused: readonly WouldNot[]): Html {
  if (refused.length === 0) return NOTHING
  return html`<h2>What is not recorded</h2>${table('Lines that change nothing', REFUSED, refused.map(reasonRow))}`
}

function reasonRow({ entry, reason }: WouldNot): readonly Html[] {
  return [
    ...[html`${entry.line}`, html`<span class="id">${entry.reference}</span>`],
    ...[html`${FINDING_NAMES[entry.finding]}`, html`${linked(reason)}.`],
  ]
}

const PROPOSED_LINES = [
  { name: 'Line', kind: 'number' },
  { name: 'Reference', kind: 'word' },
  { name: 'Proposed by' },
  { name: 'When' },
  { name: 'Lapses' },
  { name: 'Why', kind: 'text' },
] as const

function proposedTable(proposed: readonly Proposed[]): Html {
  if (proposed.length === 0) return NOTHING
  const rows = proposed.map(({ entry: { line, reference }, row, proposal: { by, atMs, untilMs, reason } }) => [
    html`${line}`,
    html`<a class="id" href="${instructionPath(reference, row)}">${reference}</a>`,
    ...[html`${by}`, moment(atMs), moment(untilMs), html`${reason}`],
  ])
  return html`<h2>What is proposed</h2><p>Nothing is sent before another person confirms it.</p>${table('Lines that another person confirms or refuses', PROPOSED_LINES, rows)}`
}

const RECORDED = [
  { name: 'Line', kind: 'number' },
  { name: 'Reference', kind: 'word' },
  { name: 'Found', kind: 'text' },
  { name: 'By' },
  { name: 'When' },
  { name: 'Is now', kind: 'word' },
] as const

function recordedTable(recorded: readonly Recorded[]): Html {
  if (recorded.length === 0) return NOTHING
  const rows = recorded.map(({ entry, move, now }) => [
    html`${entry.line}`,
    html`<a class="id" href="${instructionPath(entry.reference, move)}">${entry.reference}</a>`,
    html`${FINDING_NAMES[entry.finding]}`,
    html`${move.by}`,
    moment(move.atMs),
    stateText(statusOf(now.to)),
  ])
  return html`<h2>What is recorded</h2>${table('Lines that the record holds', RECORDED, rows)}`
}
